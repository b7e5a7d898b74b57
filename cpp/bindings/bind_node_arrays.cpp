// SPDX-License-Identifier: MIT
#include <algorithm>
#include <deque>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/numpy.h>

#include "attribute_values.hpp"
#include "bindings.hpp"
#include "chakra_core/node_arrays.hpp"

namespace py = pybind11;
using namespace pybind11::literals;

namespace chakra::bindings {

namespace {

template <class Value>
using Array = py::array_t<Value, py::array::c_style | py::array::forcecast>;

py::array one_dimensional(const py::object& values, const std::string& what) {
  const py::array array(py::module_::import("numpy").attr("asarray")(values));
  if (array.ndim() != 1) {
    throw py::value_error(what + " must have one dimension, one entry a node");
  }
  return array;
}

template <class Value>
std::span<const Value> span_of(const Array<Value>& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

/// Integers that are not negative. Signed arrays are taken if their values allow it.
Array<std::uint64_t> unsigned_array(const py::object& values, const std::string& what) {
  const py::array array = one_dimensional(values, what);
  const char kind = array.dtype().kind();
  if (array.size() != 0 && kind != 'i' && kind != 'u') {
    throw py::type_error(what + " must be integers, not " + std::string(py::str(py::object(array.dtype()))));
  }
  if (array.size() != 0 && kind == 'i' && py::cast<std::int64_t>(array.attr("min")()) < 0) {
    throw py::value_error(what + " has a negative number");
  }
  return Array<std::uint64_t>(array);
}

/// What the spans of NodeArrays point into, alive as long as the call.
class HeldArrays {
 public:
  std::span<const std::uint64_t> unsigned_integers(const py::object& values, const std::string& what) {
    if (values.is_none()) {
      return {};
    }
    return span_of(unsigned_.emplace_back(unsigned_array(values, what)));
  }

  ParentLists parents(const py::object& lists, const std::string& what) {
    if (lists.is_none()) {
      return {};
    }
    if (!py::isinstance<py::tuple>(lists) || py::len(lists) != 2) {
      throw py::type_error(what + " must be a pair: offsets (one more than nodes) and parent ids");
    }
    const auto pair = py::reinterpret_borrow<py::tuple>(lists);
    return {unsigned_integers(pair[0], what + " offsets"), unsigned_integers(pair[1], what + " ids")};
  }

  std::span<const std::string_view> strings(const py::object& values, std::span<const bool> absent,
                                            const std::string& what) {
    const py::list& texts = lists_.emplace_back(values);
    std::vector<std::string_view>& views = strings_.emplace_back(texts.size());
    for (std::size_t i = 0; i < views.size(); ++i) {
      if (i < absent.size() && absent[i]) {
        continue;
      }
      Py_ssize_t size = 0;
      PyObject* const text = PyList_GET_ITEM(texts.ptr(), static_cast<Py_ssize_t>(i));
      if (PyUnicode_Check(text) == 0) {
        throw py::type_error(what + ": entry " + std::to_string(i) + " is not a str");
      }
      const char* const bytes = PyUnicode_AsUTF8AndSize(text, &size);
      if (bytes == nullptr) {
        throw py::error_already_set();
      }
      views[i] = {bytes, static_cast<std::size_t>(size)};
    }
    return views;
  }

  std::span<const NodeType> types(const py::object& values, std::size_t count);
  AttributeArray attribute(const std::string& name, const py::object& values);
  IoArrays io(const py::object& texts, const std::string& what);

 private:
  void set_values(AttributeArray& attribute, const py::array& values);
  template <class Wide>
  void set_integers(AttributeArray& attribute, const py::array& values);

  std::deque<Array<std::uint64_t>> unsigned_;
  std::deque<Array<std::int64_t>> signed_;
  std::deque<Array<double>> doubles_;
  std::deque<Array<bool>> flags_;
  std::deque<py::list> lists_;
  std::deque<std::vector<std::string_view>> strings_;
  std::deque<std::vector<NodeType>> types_;
};

std::span<const NodeType> HeldArrays::types(const py::object& values, std::size_t count) {
  std::vector<NodeType>& types = types_.emplace_back();
  if (values.is_none() || py::isinstance<py::str>(values) || !py::isinstance<py::sequence>(values)) {
    const bool is_array = !values.is_none() && py::hasattr(values, "__array__") && py::hasattr(values, "__len__");
    if (!is_array) {
      types.assign(count, values.is_none() ? NodeType::comp : node_type_from_python(values));
      return types;
    }
  }
  const py::array array = one_dimensional(values, "types");
  if (array.dtype().kind() == 'i' || array.dtype().kind() == 'u') {
    const Array<std::int32_t> numbers(array);
    for (py::ssize_t i = 0; i < numbers.size(); ++i) {
      types.push_back(static_cast<NodeType>(numbers.data()[i]));
    }
    return types;
  }
  for (const auto type : py::list(values)) {
    types.push_back(node_type_from_python(py::reinterpret_borrow<py::object>(type)));
  }
  return types;
}

/// The arm that a single value of this name would get, if all values fit it.
template <class Wide>
AttributeKind integer_kind(const AttributeArray& attribute, std::span<const Wide> values) {
  const bool is_list = !attribute.offsets.empty();
  Wide smallest = 0;
  Wide largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (is_list || attribute.absent.empty() || !attribute.absent[i]) {
      smallest = std::min(smallest, values[i]);
      largest = std::max(largest, values[i]);
    }
  }
  const AttributeKind customary = is_list ? AttributeKind::int64_value : customary_kind(attribute.name);
  if (std::cmp_greater(largest, std::numeric_limits<std::int64_t>::max())) {
    return AttributeKind::uint64_value;
  }
  const bool fits_int32 = std::in_range<std::int32_t>(smallest) && std::in_range<std::int32_t>(largest);
  if ((customary == AttributeKind::uint64_value && std::cmp_less(smallest, 0)) ||
      (customary == AttributeKind::int32_value && !fits_int32)) {
    return AttributeKind::int64_value;
  }
  return customary;
}

template <class Wide>
void HeldArrays::set_integers(AttributeArray& attribute, const py::array& values) {
  const Array<Wide> integers(values);
  attribute.kind = integer_kind(attribute, span_of(integers));
  if (attribute.kind == AttributeKind::uint64_value) {
    attribute.values = span_of(unsigned_.emplace_back(integers));
  } else {
    attribute.values = span_of(signed_.emplace_back(integers));
  }
}

void HeldArrays::set_values(AttributeArray& attribute, const py::array& values) {
  switch (values.dtype().kind()) {
    case 'b':
      attribute.kind = AttributeKind::bool_value;
      attribute.values = span_of(flags_.emplace_back(values));
      break;
    case 'i':
      set_integers<std::int64_t>(attribute, values);
      break;
    case 'u':
      set_integers<std::uint64_t>(attribute, values);
      break;
    case 'f':
      attribute.kind = AttributeKind::double_value;
      attribute.values = span_of(doubles_.emplace_back(values));
      break;
    case 'U':
    case 'O': {
      const std::span<const bool> absent = attribute.offsets.empty() ? attribute.absent : std::span<const bool>{};
      attribute.kind = AttributeKind::string_value;
      attribute.values = strings(values.attr("tolist")(), absent, "attribute " + attribute.name);
      break;
    }
    default:
      throw py::type_error("attribute " + attribute.name + ": an array of " +
                           std::string(py::str(py::object(values.dtype()))) +
                           " has no form in the schema; give bool, integers, floats or str");
  }
}

/// A pair of two lists rather than two values.
bool is_ragged(const py::object& values) {
  const auto is_list = [](const py::handle& item) {
    return py::hasattr(item, "__len__") && !py::isinstance<py::str>(item);
  };
  return py::isinstance<py::tuple>(values) && py::len(values) == 2 && is_list(values[py::int_(0)]) &&
         is_list(values[py::int_(1)]);
}

/// One value a node from one dimension; a list a node from a pair (offsets, values) or from the rows of two dimensions.
AttributeArray HeldArrays::attribute(const std::string& name, const py::object& values) {
  const py::module_ numpy = py::module_::import("numpy");
  const py::object masked = numpy.attr("ma");
  AttributeArray attribute{.name = name};
  if (is_ragged(values)) {
    attribute.offsets = unsigned_integers(values[py::int_(0)], "attribute " + name + ": its offsets");
    set_values(attribute, one_dimensional(values[py::int_(1)], "attribute " + name + ": its values"));
  } else {
    const py::array array(numpy.attr("asarray")(masked.attr("getdata")(values)));
    const bool has_rows = array.ndim() == 2;
    if (py::cast<bool>(masked.attr("is_masked")(values))) {
      const py::object mask = masked.attr("getmaskarray")(values);
      attribute.absent = span_of(flags_.emplace_back(has_rows ? mask.attr("all")("axis"_a = 1) : mask));
    }
    if (has_rows) {
      const py::object offsets = numpy.attr("arange")(array.shape(0) + 1) * py::int_(array.shape(1));
      attribute.offsets = unsigned_integers(offsets, name);
    }
    set_values(attribute, one_dimensional(has_rows ? array.attr("ravel")() : py::object(array), "attribute " + name));
  }
  if (!attribute.offsets.empty()) {
    attribute.kind = static_cast<AttributeKind>(static_cast<unsigned>(attribute.kind) + 1);
  }
  return attribute;
}

IoArrays HeldArrays::io(const py::object& texts, const std::string& what) {
  if (texts.is_none()) {
    return {};
  }
  if (!py::isinstance<py::tuple>(texts) || py::len(texts) != 3) {
    throw py::type_error(what + " must be three lists of str, one entry a node: values, shapes, types");
  }
  const auto list = [&](int place, const char* part) -> std::span<const std::string_view> {
    const py::object entries = texts[py::int_(place)];
    return entries.is_none() ? std::span<const std::string_view>{} : strings(entries, {}, what + " " + part);
  };
  return {list(0, "values"), list(1, "shapes"), list(2, "types")};
}

void add_arrays(TraceBuilder& builder, const py::object& ids, const py::object& types, const py::object& names,
                const py::object& data_deps, const py::object& ctrl_deps, const py::object& start_ns,
                const py::object& duration_ns, const py::dict& attrs, const py::object& inputs,
                const py::object& outputs) {
  HeldArrays held;
  NodeArrays nodes;
  nodes.ids = held.unsigned_integers(ids, "ids");
  nodes.types = held.types(types, nodes.ids.size());
  if (py::isinstance<py::str>(names)) {
    throw py::type_error("names must be a sequence of str, one a node");
  }
  if (!names.is_none()) {
    nodes.names = held.strings(py::hasattr(names, "tolist") ? names.attr("tolist")() : names, {}, "names");
  }
  nodes.data_deps = held.parents(data_deps, "data_deps");
  nodes.ctrl_deps = held.parents(ctrl_deps, "ctrl_deps");
  nodes.start_ns = held.unsigned_integers(start_ns, "start_ns");
  nodes.duration_ns = held.unsigned_integers(duration_ns, "duration_ns");
  nodes.inputs = held.io(inputs, "inputs");
  nodes.outputs = held.io(outputs, "outputs");
  std::vector<AttributeArray> attributes;
  for (const auto& [name, values] : attrs) {
    attributes.push_back(held.attribute(py::cast<std::string>(name), py::reinterpret_borrow<py::object>(values)));
  }
  nodes.attributes = attributes;
  add_nodes(builder, nodes);
}

}  // namespace

void bind_node_arrays(py::module_& module) {
  auto builder = py::reinterpret_borrow<py::class_<TraceBuilder>>(module.attr("TraceBuilder"));
  builder.def("add_nodes", &add_arrays, py::kw_only(), "ids"_a, "types"_a = py::none(), "names"_a = py::none(),
              "data_deps"_a = py::none(), "ctrl_deps"_a = py::none(), "start_ns"_a = py::none(),
              "duration_ns"_a = py::none(), "attrs"_a = py::dict(), "inputs"_a = py::none(), "outputs"_a = py::none(),
              "Adds many nodes from arrays with one entry a node. `types` may be one type for all (default COMP_NODE); "
              "`names` is a sequence of str; `data_deps` and `ctrl_deps` are pairs (offsets, ids): the parents of node "
              "i are ids[offsets[i]:offsets[i + 1]]; times are in ns; `attrs` is a dict of name to an array of bool, "
              "integers, floats or str: of one dimension for a value a node, of two for a list a node, masked where a "
              "node (a whole row) does not have the attribute; or a pair (offsets, values) for lists of several "
              "lengths. `inputs` and `outputs` are triples (values, shapes, types) of sequences of str, each of which "
              "may be None; a node for which all three are empty has none.");
}

}  // namespace chakra::bindings
