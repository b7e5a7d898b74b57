# SPDX-License-Identifier: MIT
"""The message classes and schema/et_def.proto say the same."""

import re
from pathlib import Path

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from hypothesis import given
from hypothesis import strategies as st

from chakra_core import proto

SCHEMA = Path(__file__).parents[3] / "schema" / "et_def.proto"

_FIELD = re.compile(r"\s*(repeated )?(\w+) (\w+) = (\d+);")
_VALUE = re.compile(r"\s*(\w+) = (\d+);")
_BLOCK = re.compile(r"(message|enum) (\w+) \{")

# Field name: (number, type name, repeated).
Fields = dict[str, tuple[int, str, bool]]


def parse_schema() -> tuple[dict[str, Fields], dict[str, dict[str, int]]]:
    """Messages and enums of the .proto file; enough of a parser for a file without nesting but one oneof."""
    messages: dict[str, Fields] = {}
    enums: dict[str, dict[str, int]] = {}
    block, name = "", ""
    for line in SCHEMA.read_text(encoding="utf-8").splitlines():
        if opened := _BLOCK.match(line):
            block, name = opened.groups()
            (messages if block == "message" else enums)[name] = {}
        elif block == "message" and (field := _FIELD.fullmatch(line)):
            messages[name][field[3]] = (int(field[4]), field[2], bool(field[1]))
        elif block == "enum" and (value := _VALUE.fullmatch(line)):
            enums[name][value[1]] = int(value[2])
    return messages, enums


def type_name(field: FieldDescriptor) -> str:
    if field.message_type is not None:
        return field.message_type.name
    if field.enum_type is not None:
        return field.enum_type.name
    names = {number: name for name, number in vars(FieldDescriptor).items() if name.startswith("TYPE_")}
    return names[field.type].removeprefix("TYPE_").lower()


def fields_of(message: Descriptor) -> Fields:
    return {field.name: (field.number, type_name(field), field.is_repeated) for field in message.fields}


def test_messages_agree_with_the_schema_file() -> None:
    messages, enums = parse_schema()
    assert len(messages) == 20
    built = {name: fields_of(message) for name, message in proto.DESCRIPTOR.message_types_by_name.items()}
    assert built == messages
    assert {
        name: {value.name: value.number for value in enum.values}
        for name, enum in proto.DESCRIPTOR.enum_types_by_name.items()
    } == enums


def test_package_and_oneof() -> None:
    assert proto.DESCRIPTOR.package == "ChakraProtoMsg"
    assert "package ChakraProtoMsg;" in SCHEMA.read_text(encoding="utf-8")
    arms = proto.AttributeProto.DESCRIPTOR.oneofs_by_name["value"].fields
    assert [arm.number for arm in arms] == list(range(3, 33))


def test_module_offers_every_message_and_enum_value() -> None:
    for name in proto.DESCRIPTOR.message_types_by_name:
        assert getattr(proto, name).DESCRIPTOR.full_name == f"ChakraProtoMsg.{name}"
    for enum in (proto.NodeType, proto.CollectiveCommType):
        for name, number in enum.items():
            assert getattr(proto, name) == number


def test_lives_beside_another_copy_of_the_schema() -> None:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    copy = descriptor_pb2.FileDescriptorProto()
    proto.DESCRIPTOR.CopyToProto(copy)
    pool = descriptor_pool.Default()
    other = pool.AddSerializedFile(copy.SerializeToString())
    other_file = other or pool.FindFileByName(copy.name)
    other_node = message_factory.GetMessageClass(other_file.message_types_by_name["Node"])
    assert other_node is not proto.Node
    assert other_node.FromString(proto.Node(id=7).SerializeToString()).id == 7


def test_unknown_node_type_is_kept() -> None:
    node = proto.Node.FromString(b"\x08\x01\x18\x08\x5a\x03abc")
    assert node.type == 8
    assert node.SerializeToString() == b"\x08\x01\x18\x08\x5a\x03abc"


@pytest.mark.parametrize(
    ("kind", "value"),
    [("double", 1.5), ("sint64", -3), ("bool", True), ("string", "x"), ("bytes", b"\xff"), ("fixed32", 9)],
)
def test_attribute_arms_hold_values_and_lists(kind: str, value: object) -> None:
    single = proto.AttributeProto(name="a", **{f"{kind}_val": value})
    assert single.WhichOneof("value") == f"{kind}_val"
    many = proto.AttributeProto(name="a")
    getattr(many, f"{kind}_list").values.extend([value, value])
    again = proto.AttributeProto.FromString(many.SerializeToString())
    assert list(getattr(again, f"{kind}_list").values) == [value, value]


@given(
    st.integers(0, 2**64 - 1),
    st.text(),
    st.lists(st.integers(0, 2**64 - 1)),
    st.dictionaries(st.text(), st.integers(-(2**63), 2**63 - 1)),
)
def test_node_survives_the_wire(number: int, name: str, parents: list[int], values: dict[str, int]) -> None:
    node = proto.Node(id=number, name=name, data_deps=parents, type=proto.COMP_NODE)
    for key, value in values.items():
        node.attr.add(name=key).int64_val = value
    assert proto.Node.FromString(node.SerializeToString()) == node
