# SPDX-License-Identifier: MIT
"""Message classes of the ET format (`schema/et_def.proto`, package ChakraProtoMsg).

The classes are built at import, from a descriptor written down here, in a descriptor pool of their own. So they work
with any installed protobuf runtime, and live in one process with another package's generated copy of the same schema.
Names are those of a generated `et_def_pb2`: `Node`, `AttributeProto`, `GlobalMetadata`, `IOInfo`, `Tensor`, the list
messages `DoubleList` ... `BytesList`, the enums `NodeType` and `CollectiveCommType`, and their values
(`COMP_NODE`, `ALL_REDUCE`, ...).

For whole traces use `chakra_core.load`, which is many times faster; these classes are for single messages and for
tools that speak protobuf.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.internal import enum_type_wrapper

_PACKAGE = "ChakraProtoMsg"

_NODE_TYPES = (
    "INVALID_NODE",
    "METADATA_NODE",
    "MEM_LOAD_NODE",
    "MEM_STORE_NODE",
    "COMP_NODE",
    "COMM_SEND_NODE",
    "COMM_RECV_NODE",
    "COMM_COLL_NODE",
)

_COLLECTIVES = (
    "ALL_REDUCE",
    "REDUCE",
    "ALL_GATHER",
    "GATHER",
    "SCATTER",
    "BROADCAST",
    "ALL_TO_ALL",
    "REDUCE_SCATTER",
    "REDUCE_SCATTER_BLOCK",
    "BARRIER",
)

# In the order of AttributeProto's oneof: kind k has field 3 + 2k for a value and 4 + 2k for a list.
_KINDS = (
    "double",
    "float",
    "int32",
    "int64",
    "uint32",
    "uint64",
    "sint32",
    "sint64",
    "fixed32",
    "fixed64",
    "sfixed32",
    "sfixed64",
    "bool",
    "string",
    "bytes",
)

_File = descriptor_pb2.FileDescriptorProto
_Message = descriptor_pb2.DescriptorProto
_Field = descriptor_pb2.FieldDescriptorProto


def _add_field(message: _Message, number: int, name: str, kind: str, *, repeated: bool = False) -> _Field:
    """Add a field; `kind` is a scalar type of the language, "enum X", or the name of a message."""
    field = message.field.add(name=name, number=number)
    field.label = _Field.LABEL_REPEATED if repeated else _Field.LABEL_OPTIONAL
    if kind in _KINDS:
        field.type = _Field.Type.Value(f"TYPE_{kind.upper()}")
    else:
        is_enum = kind.startswith("enum ")
        field.type = _Field.TYPE_ENUM if is_enum else _Field.TYPE_MESSAGE
        field.type_name = f".{_PACKAGE}.{kind.removeprefix('enum ')}"
    return field


def _add_enum(file: _File, name: str, values: tuple[str, ...]) -> None:
    enum = file.enum_type.add(name=name)
    for number, value in enumerate(values):
        enum.value.add(name=value, number=number)


def _add_attribute(file: _File) -> None:
    attribute = file.message_type.add(name="AttributeProto")
    _add_field(attribute, 1, "name", "string")
    _add_field(attribute, 2, "doc_string", "string")
    attribute.oneof_decl.add(name="value")
    for index, kind in enumerate(_KINDS):
        list_name = f"{kind.capitalize()}List"
        list_message = file.message_type.add(name=list_name)
        _add_field(list_message, 1, "values", kind, repeated=True)
        _add_field(attribute, 3 + 2 * index, f"{kind}_val", kind).oneof_index = 0
        _add_field(attribute, 4 + 2 * index, f"{kind}_list", list_name).oneof_index = 0


def _add_node(file: _File) -> None:
    node = file.message_type.add(name="Node")
    _add_field(node, 1, "id", "uint64")
    _add_field(node, 2, "name", "string")
    _add_field(node, 3, "type", "enum NodeType")
    _add_field(node, 4, "ctrl_deps", "uint64", repeated=True)
    _add_field(node, 5, "data_deps", "uint64", repeated=True)
    _add_field(node, 6, "start_time_micros", "uint64")
    _add_field(node, 7, "duration_micros", "uint64")
    _add_field(node, 8, "inputs", "IOInfo")
    _add_field(node, 9, "outputs", "IOInfo")
    _add_field(node, 10, "attr", "AttributeProto", repeated=True)


def _add_others(file: _File) -> None:
    metadata = file.message_type.add(name="GlobalMetadata")
    _add_field(metadata, 1, "version", "string")
    _add_field(metadata, 2, "attr", "AttributeProto", repeated=True)
    info = file.message_type.add(name="IOInfo")
    for number, name in enumerate(("values", "shapes", "types"), start=1):
        _add_field(info, number, name, "string")
    tensor = file.message_type.add(name="Tensor")
    for number, name in enumerate(("tensor_id", "storage_id", "offset", "num_elem", "elem_bytes"), start=1):
        _add_field(tensor, number, name, "uint64")
    _add_field(tensor, 6, "device", "string")


def _describe_schema() -> _File:
    file = _File(name="chakra_core/et_def.proto", package=_PACKAGE, syntax="proto3")
    _add_enum(file, "NodeType", _NODE_TYPES)
    _add_enum(file, "CollectiveCommType", _COLLECTIVES)
    _add_attribute(file)
    _add_others(file)
    _add_node(file)
    return file


_pool = descriptor_pool.DescriptorPool()
_pool.AddSerializedFile(_describe_schema().SerializeToString())
DESCRIPTOR = _pool.FindFileByName("chakra_core/et_def.proto")


def _message_class(name: str) -> Any:
    return message_factory.GetMessageClass(DESCRIPTOR.message_types_by_name[name])


# Any, because a class that is made at run time has no static type.
GlobalMetadata: Any = _message_class("GlobalMetadata")
Node: Any = _message_class("Node")
AttributeProto: Any = _message_class("AttributeProto")
IOInfo: Any = _message_class("IOInfo")
Tensor: Any = _message_class("Tensor")
DoubleList: Any = _message_class("DoubleList")
FloatList: Any = _message_class("FloatList")
Int32List: Any = _message_class("Int32List")
Int64List: Any = _message_class("Int64List")
Uint32List: Any = _message_class("Uint32List")
Uint64List: Any = _message_class("Uint64List")
Sint32List: Any = _message_class("Sint32List")
Sint64List: Any = _message_class("Sint64List")
Fixed32List: Any = _message_class("Fixed32List")
Fixed64List: Any = _message_class("Fixed64List")
Sfixed32List: Any = _message_class("Sfixed32List")
Sfixed64List: Any = _message_class("Sfixed64List")
BoolList: Any = _message_class("BoolList")
StringList: Any = _message_class("StringList")
BytesList: Any = _message_class("BytesList")

NodeType: Any = enum_type_wrapper.EnumTypeWrapper(DESCRIPTOR.enum_types_by_name["NodeType"])
CollectiveCommType: Any = enum_type_wrapper.EnumTypeWrapper(DESCRIPTOR.enum_types_by_name["CollectiveCommType"])

(
    INVALID_NODE,
    METADATA_NODE,
    MEM_LOAD_NODE,
    MEM_STORE_NODE,
    COMP_NODE,
    COMM_SEND_NODE,
    COMM_RECV_NODE,
    COMM_COLL_NODE,
) = range(len(_NODE_TYPES))

(
    ALL_REDUCE,
    REDUCE,
    ALL_GATHER,
    GATHER,
    SCATTER,
    BROADCAST,
    ALL_TO_ALL,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    BARRIER,
) = range(len(_COLLECTIVES))
