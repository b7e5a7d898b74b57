// SPDX-License-Identifier: MIT
#include "attribute_values.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace py = pybind11;

namespace chakra::bindings {

// The arms that ASTRA-sim's and the PyTorch converter's attributes are usually written with.
AttributeKind customary_kind(const std::string& name) {
  if (name == "tensor_size" || name == "rf_id" || name == "fw_parent" || name == "scope" || name == "tid" ||
      name == "fw_tid") {
    return AttributeKind::uint64_value;
  }
  if (name == "comm_priority" || name == "comm_src" || name == "comm_dst" || name == "comm_tag") {
    return AttributeKind::int32_value;
  }
  return AttributeKind::int64_value;
}

namespace {

constexpr std::array<std::string_view, 15> kinds = {
    "double",  "float",   "int32",    "int64",    "uint32", "uint64", "sint32", "sint64",
    "fixed32", "fixed64", "sfixed32", "sfixed64", "bool",   "string", "bytes",
};

py::object bytes_or_text(AttributeKind kind, const std::string& value) {
  const bool is_bytes = kind == AttributeKind::bytes_value || kind == AttributeKind::bytes_list;
  return is_bytes ? py::object(py::bytes(value)) : py::object(text(value));
}

template <class List>
py::list to_list(const List& values) {
  py::list list;
  for (const auto value : values) {
    list.append(py::cast(static_cast<typename List::value_type>(value)));
  }
  return list;
}

bool fits_int64(const py::object& value) {
  int overflow = 0;
  PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (PyErr_Occurred() != nullptr) {
    throw py::error_already_set();
  }
  return overflow == 0;
}

AttributeKind scalar_kind(const std::string& name, const py::object& value, AttributeKind customary) {
  if (py::isinstance<py::bool_>(value)) {
    return AttributeKind::bool_value;
  }
  if (py::isinstance<py::str>(value)) {
    return AttributeKind::string_value;
  }
  if (py::isinstance<py::bytes>(value)) {
    return AttributeKind::bytes_value;
  }
  if (py::isinstance<py::float_>(value)) {
    return AttributeKind::double_value;
  }
  if (PyIndex_Check(value.ptr()) != 0) {
    if (!fits_int64(value)) {
      return AttributeKind::uint64_value;
    }
    const auto number = py::cast<std::int64_t>(value);
    const bool fits_customary = customary != AttributeKind::uint64_value || number >= 0;
    const bool fits_int32 = number >= INT32_MIN && number <= INT32_MAX;
    return fits_customary && (customary != AttributeKind::int32_value || fits_int32) ? customary
                                                                                     : AttributeKind::int64_value;
  }
  throw py::type_error("attribute " + name + ": a " + std::string(py::str(py::type::of(value).attr("__name__"))) +
                       " has no form in the schema; give bool, int, float, str, bytes, None or a list of one of them");
}

/// The kind that holds values of both kinds: integers widen to floats and to uint64.
AttributeKind common_kind(const std::string& name, AttributeKind one, AttributeKind other) {
  constexpr auto integer = AttributeKind::int64_value;
  const auto widens = [](AttributeKind kind) {
    return kind == AttributeKind::double_value || kind == AttributeKind::uint64_value;
  };
  if (one == other || (other == integer && widens(one))) {
    return one;
  }
  if (one == integer && widens(other)) {
    return other;
  }
  throw py::type_error("attribute " + name + ": a list of " + kind_name(one) + " and " + kind_name(other) +
                       " has no form in the schema");
}

AttributeKind natural_kind(const std::string& name, const py::object& value) {
  if (value.is_none()) {
    return AttributeKind::none;
  }
  if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value)) {
    const auto items = py::reinterpret_borrow<py::sequence>(value);
    AttributeKind kind = AttributeKind::int64_value;
    if (items.size() != 0) {
      kind = scalar_kind(name, items[0], AttributeKind::int64_value);
      for (const auto item : items) {
        const AttributeKind other =
            scalar_kind(name, py::reinterpret_borrow<py::object>(item), AttributeKind::int64_value);
        kind = common_kind(name, kind, other);
      }
    }
    return static_cast<AttributeKind>(static_cast<unsigned>(kind) + 1);
  }
  return scalar_kind(name, value, customary_kind(name));
}

template <class Value>
std::vector<Value> cast_list(const py::object& value) {
  std::vector<Value> values;
  for (const auto item : value) {
    values.push_back(py::cast<Value>(item));
  }
  return values;
}

std::string cast_bytes(const py::object& value) { return py::cast<std::string>(value); }

AttributeValue cast_value(AttributeKind kind, const py::object& value) {
  switch (kind) {
    case AttributeKind::none:
      return std::monostate{};
    case AttributeKind::double_value:
    case AttributeKind::float_value:
      return py::cast<double>(value);
    case AttributeKind::int32_value:
    case AttributeKind::int64_value:
    case AttributeKind::sint32_value:
    case AttributeKind::sint64_value:
    case AttributeKind::sfixed32_value:
    case AttributeKind::sfixed64_value:
      return py::cast<std::int64_t>(value);
    case AttributeKind::uint32_value:
    case AttributeKind::uint64_value:
    case AttributeKind::fixed32_value:
    case AttributeKind::fixed64_value:
      return py::cast<std::uint64_t>(value);
    case AttributeKind::bool_value:
      return py::cast<bool>(value);
    case AttributeKind::string_value:
    case AttributeKind::bytes_value:
      return cast_bytes(value);
    case AttributeKind::double_list:
    case AttributeKind::float_list:
      return cast_list<double>(value);
    case AttributeKind::bool_list:
      return cast_list<bool>(value);
    case AttributeKind::string_list:
    case AttributeKind::bytes_list:
      return cast_list<std::string>(value);
    case AttributeKind::uint32_list:
    case AttributeKind::uint64_list:
    case AttributeKind::fixed32_list:
    case AttributeKind::fixed64_list:
      return cast_list<std::uint64_t>(value);
    default:
      return cast_list<std::int64_t>(value);
  }
}

}  // namespace

py::str text(std::string_view bytes) {
  PyObject* const decoded = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace");
  if (decoded == nullptr) {
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::str>(decoded);
}

py::str file_name(std::string_view path) {
  PyObject* const decoded = PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<Py_ssize_t>(path.size()));
  if (decoded == nullptr) {
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::str>(decoded);
}

py::object to_python(const Attribute& attribute) {
  return std::visit(
      [&]<class Value>(const Value& value) -> py::object {
        if constexpr (std::is_same_v<Value, std::monostate>) {
          return py::none();
        } else if constexpr (std::is_same_v<Value, std::string>) {
          return bytes_or_text(attribute.kind, value);
        } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
          py::list list;
          for (const std::string& item : value) {
            list.append(bytes_or_text(attribute.kind, item));
          }
          return list;
        } else if constexpr (requires { value.begin(); }) {
          return to_list(value);
        } else {
          return py::cast(value);
        }
      },
      attribute.value);
}

std::string kind_name(AttributeKind kind) {
  if (kind == AttributeKind::none) {
    return {};
  }
  const auto number = static_cast<std::size_t>(kind) - 3;
  return std::string(kinds[number / 2]) + (number % 2 == 0 ? "_val" : "_list");
}

AttributeKind parse_kind(const std::string& name) {
  for (unsigned number = 3; number <= 32; ++number) {
    if (kind_name(static_cast<AttributeKind>(number)) == name) {
      return static_cast<AttributeKind>(number);
    }
  }
  if (name.empty()) {
    return AttributeKind::none;
  }
  throw py::value_error("no attribute kind \"" + name + "\"; kinds are called \"int64_val\", \"bool_list\" and so on");
}

Attribute from_python(const std::string& name, const py::object& value, const std::string& kind,
                      const std::string& doc_string) {
  Attribute attribute{name, kind.empty() ? natural_kind(name, value) : parse_kind(kind), {}, doc_string};
  try {
    attribute.value = cast_value(attribute.kind, value);
  } catch (const py::cast_error&) {
    throw py::type_error("attribute " + name + ": " + std::string(py::repr(value)) + " is no " +
                         kind_name(attribute.kind));
  }
  if (!is_consistent(attribute)) {
    throw py::value_error("attribute " + name + ": " + std::string(py::repr(value)) + " does not fit " +
                          kind_name(attribute.kind));
  }
  return attribute;
}

std::vector<Attribute> attributes_from_python(const py::object& attributes) {
  std::vector<Attribute> converted;
  if (attributes.is_none()) {
    return converted;
  }
  if (py::isinstance<py::dict>(attributes)) {
    for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(attributes)) {
      const auto name = py::cast<std::string>(key);
      if (py::isinstance<Attribute>(value)) {
        converted.push_back(py::cast<Attribute>(value));
        converted.back().name = name;
      } else {
        converted.push_back(from_python(name, py::reinterpret_borrow<py::object>(value)));
      }
    }
    return converted;
  }
  for (const auto item : attributes) {
    converted.push_back(py::cast<Attribute>(item));
  }
  return converted;
}

NodeType node_type_from_python(const py::object& type) {
  if (py::isinstance<py::str>(type)) {
    const auto name = py::cast<std::string>(type);
    if (const auto known = parse_node_type(name)) {
      return *known;
    }
    throw py::value_error("no node type \"" + name + "\"; the schema has INVALID_NODE, METADATA_NODE, MEM_LOAD_NODE, " +
                          "MEM_STORE_NODE, COMP_NODE, COMM_SEND_NODE, COMM_RECV_NODE, COMM_COLL_NODE");
  }
  return static_cast<NodeType>(py::cast<std::int32_t>(type));
}

}  // namespace chakra::bindings
