// SPDX-License-Identifier: MIT
#pragma once

// The messages of schema/et_def.proto under the names that protobuf's generated classes have, for programs that ask a
// node for them. By default they are small structs of this project, for reading only, and need no protobuf. With
// CHAKRA_CORE_ASTRA_SIM_PROTOBUF defined they are the real classes of "et_def.pb.h", for programs that link libprotobuf
// anyway. C++17.

#ifdef CHAKRA_CORE_ASTRA_SIM_PROTOBUF

#include "et_def.pb.h"

#else

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#ifdef GOOGLE_PROTOBUF_VERSION
#error "This program includes protobuf: configure with -DCHAKRA_CORE_ASTRA_SIM_PROTOBUF=ON (docs/embedding.md)"
#endif

namespace google {
namespace protobuf {

/// A list of values, read as protobuf's is. Indices must be below size().
template <class Element>
class RepeatedField {
 public:
  RepeatedField() = default;
  explicit RepeatedField(std::vector<Element> elements) : elements_(std::move(elements)) {}

  int size() const { return static_cast<int>(elements_.size()); }
  bool empty() const { return elements_.empty(); }
  typename std::vector<Element>::const_reference Get(int index) const {
    return elements_[static_cast<std::size_t>(index)];
  }
  typename std::vector<Element>::const_reference operator[](int index) const { return Get(index); }
  typename std::vector<Element>::const_iterator begin() const { return elements_.begin(); }
  typename std::vector<Element>::const_iterator end() const { return elements_.end(); }

 private:
  std::vector<Element> elements_;
};

/// The same for strings and messages.
template <class Element>
class RepeatedPtrField : public RepeatedField<Element> {
 public:
  using RepeatedField<Element>::RepeatedField;
};

}  // namespace protobuf
}  // namespace google

namespace ChakraProtoMsg {

enum NodeType : int {
  INVALID_NODE = 0,
  METADATA_NODE = 1,
  MEM_LOAD_NODE = 2,
  MEM_STORE_NODE = 3,
  COMP_NODE = 4,
  COMM_SEND_NODE = 5,
  COMM_RECV_NODE = 6,
  COMM_COLL_NODE = 7,
};

enum CollectiveCommType : int {
  ALL_REDUCE = 0,
  REDUCE = 1,
  ALL_GATHER = 2,
  GATHER = 3,
  SCATTER = 4,
  BROADCAST = 5,
  ALL_TO_ALL = 6,
  REDUCE_SCATTER = 7,
  REDUCE_SCATTER_BLOCK = 8,
  BARRIER = 9,
};

/// The list arms of an attribute: BoolList, StringList and so on.
template <class Element, template <class> class Field = google::protobuf::RepeatedField>
class ValueList {
 public:
  ValueList() = default;
  explicit ValueList(std::vector<Element> values) : values_(std::move(values)) {}

  const Field<Element>& values() const { return values_; }
  typename std::vector<Element>::const_reference values(int index) const { return values_.Get(index); }
  int values_size() const { return values_.size(); }

 private:
  Field<Element> values_;
};

using DoubleList = ValueList<double>;
using FloatList = ValueList<float>;
using Int32List = ValueList<std::int32_t>;
using Int64List = ValueList<std::int64_t>;
using Uint32List = ValueList<std::uint32_t>;
using Uint64List = ValueList<std::uint64_t>;
using Sint32List = Int32List;
using Sint64List = Int64List;
using Fixed32List = Uint32List;
using Fixed64List = Uint64List;
using Sfixed32List = Int32List;
using Sfixed64List = Int64List;
using BoolList = ValueList<bool>;
using StringList = ValueList<std::string, google::protobuf::RepeatedPtrField>;
using BytesList = StringList;

/// An attribute of a node. A getter of an arm that is not set gives 0, "" or an empty list, as protobuf's do.
class AttributeProto {
 public:
  enum ValueCase : int {
    VALUE_NOT_SET = 0,
    kDoubleVal = 3,
    kDoubleList = 4,
    kFloatVal = 5,
    kFloatList = 6,
    kInt32Val = 7,
    kInt32List = 8,
    kInt64Val = 9,
    kInt64List = 10,
    kUint32Val = 11,
    kUint32List = 12,
    kUint64Val = 13,
    kUint64List = 14,
    kSint32Val = 15,
    kSint32List = 16,
    kSint64Val = 17,
    kSint64List = 18,
    kFixed32Val = 19,
    kFixed32List = 20,
    kFixed64Val = 21,
    kFixed64List = 22,
    kSfixed32Val = 23,
    kSfixed32List = 24,
    kSfixed64Val = 25,
    kSfixed64List = 26,
    kBoolVal = 27,
    kBoolList = 28,
    kStringVal = 29,
    kStringList = 30,
    kBytesVal = 31,
    kBytesList = 32,
  };
  /// What the arms hold; several arms share a type.
  using Value = std::variant<std::monostate, double, float, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t,
                             bool, std::string, DoubleList, FloatList, Int32List, Int64List, Uint32List, Uint64List,
                             BoolList, StringList>;

  AttributeProto() = default;
  AttributeProto(std::string name, std::string doc_string, ValueCase value_case, Value value)
      : name_(std::move(name)), doc_string_(std::move(doc_string)), case_(value_case), value_(std::move(value)) {}

  const std::string& name() const { return name_; }
  const std::string& doc_string() const { return doc_string_; }
  ValueCase value_case() const { return case_; }

  bool has_double_val() const { return case_ == kDoubleVal; }
  bool has_double_list() const { return case_ == kDoubleList; }
  bool has_float_val() const { return case_ == kFloatVal; }
  bool has_float_list() const { return case_ == kFloatList; }
  bool has_int32_val() const { return case_ == kInt32Val; }
  bool has_int32_list() const { return case_ == kInt32List; }
  bool has_int64_val() const { return case_ == kInt64Val; }
  bool has_int64_list() const { return case_ == kInt64List; }
  bool has_uint32_val() const { return case_ == kUint32Val; }
  bool has_uint32_list() const { return case_ == kUint32List; }
  bool has_uint64_val() const { return case_ == kUint64Val; }
  bool has_uint64_list() const { return case_ == kUint64List; }
  bool has_sint32_val() const { return case_ == kSint32Val; }
  bool has_sint32_list() const { return case_ == kSint32List; }
  bool has_sint64_val() const { return case_ == kSint64Val; }
  bool has_sint64_list() const { return case_ == kSint64List; }
  bool has_fixed32_val() const { return case_ == kFixed32Val; }
  bool has_fixed32_list() const { return case_ == kFixed32List; }
  bool has_fixed64_val() const { return case_ == kFixed64Val; }
  bool has_fixed64_list() const { return case_ == kFixed64List; }
  bool has_sfixed32_val() const { return case_ == kSfixed32Val; }
  bool has_sfixed32_list() const { return case_ == kSfixed32List; }
  bool has_sfixed64_val() const { return case_ == kSfixed64Val; }
  bool has_sfixed64_list() const { return case_ == kSfixed64List; }
  bool has_bool_val() const { return case_ == kBoolVal; }
  bool has_bool_list() const { return case_ == kBoolList; }
  bool has_string_val() const { return case_ == kStringVal; }
  bool has_string_list() const { return case_ == kStringList; }
  bool has_bytes_val() const { return case_ == kBytesVal; }
  bool has_bytes_list() const { return case_ == kBytesList; }

  double double_val() const { return value<double>(kDoubleVal); }
  float float_val() const { return value<float>(kFloatVal); }
  std::int32_t int32_val() const { return value<std::int32_t>(kInt32Val); }
  std::int64_t int64_val() const { return value<std::int64_t>(kInt64Val); }
  std::uint32_t uint32_val() const { return value<std::uint32_t>(kUint32Val); }
  std::uint64_t uint64_val() const { return value<std::uint64_t>(kUint64Val); }
  std::int32_t sint32_val() const { return value<std::int32_t>(kSint32Val); }
  std::int64_t sint64_val() const { return value<std::int64_t>(kSint64Val); }
  std::uint32_t fixed32_val() const { return value<std::uint32_t>(kFixed32Val); }
  std::uint64_t fixed64_val() const { return value<std::uint64_t>(kFixed64Val); }
  std::int32_t sfixed32_val() const { return value<std::int32_t>(kSfixed32Val); }
  std::int64_t sfixed64_val() const { return value<std::int64_t>(kSfixed64Val); }
  bool bool_val() const { return value<bool>(kBoolVal); }
  const std::string& string_val() const { return value<std::string>(kStringVal); }
  const std::string& bytes_val() const { return value<std::string>(kBytesVal); }

  const DoubleList& double_list() const { return value<DoubleList>(kDoubleList); }
  const FloatList& float_list() const { return value<FloatList>(kFloatList); }
  const Int32List& int32_list() const { return value<Int32List>(kInt32List); }
  const Int64List& int64_list() const { return value<Int64List>(kInt64List); }
  const Uint32List& uint32_list() const { return value<Uint32List>(kUint32List); }
  const Uint64List& uint64_list() const { return value<Uint64List>(kUint64List); }
  const Sint32List& sint32_list() const { return value<Sint32List>(kSint32List); }
  const Sint64List& sint64_list() const { return value<Sint64List>(kSint64List); }
  const Fixed32List& fixed32_list() const { return value<Fixed32List>(kFixed32List); }
  const Fixed64List& fixed64_list() const { return value<Fixed64List>(kFixed64List); }
  const Sfixed32List& sfixed32_list() const { return value<Sfixed32List>(kSfixed32List); }
  const Sfixed64List& sfixed64_list() const { return value<Sfixed64List>(kSfixed64List); }
  const BoolList& bool_list() const { return value<BoolList>(kBoolList); }
  const StringList& string_list() const { return value<StringList>(kStringList); }
  const BytesList& bytes_list() const { return value<BytesList>(kBytesList); }

 private:
  /// The value if this arm is the one that is set, else one that says nothing.
  template <class Held>
  const Held& value(ValueCase arm) const {
    static const Held nothing{};
    const Held* held = case_ == arm ? std::get_if<Held>(&value_) : nullptr;
    return held == nullptr ? nothing : *held;
  }

  std::string name_;
  std::string doc_string_;
  ValueCase case_ = VALUE_NOT_SET;
  Value value_;
};

/// Values, shapes and types of a node's inputs or outputs.
class IOInfo {
 public:
  IOInfo() = default;
  IOInfo(std::string values, std::string shapes, std::string types)
      : values_(std::move(values)), shapes_(std::move(shapes)), types_(std::move(types)) {}

  const std::string& values() const { return values_; }
  const std::string& shapes() const { return shapes_; }
  const std::string& types() const { return types_; }

 private:
  std::string values_;
  std::string shapes_;
  std::string types_;
};

/// First record of a file.
class GlobalMetadata {
 public:
  GlobalMetadata() = default;
  GlobalMetadata(std::string version, std::vector<AttributeProto> attributes)
      : version_(std::move(version)), attr_(std::move(attributes)) {}

  const std::string& version() const { return version_; }
  const google::protobuf::RepeatedPtrField<AttributeProto>& attr() const { return attr_; }
  const AttributeProto& attr(int index) const { return attr_.Get(index); }
  int attr_size() const { return attr_.size(); }

 private:
  std::string version_;
  google::protobuf::RepeatedPtrField<AttributeProto> attr_;
};

/// A node as it stands in the file. Its dependencies never change: feeding counts elsewhere.
class Node {
 public:
  /// What a Node is made of.
  struct Parts {
    std::uint64_t id = 0;
    std::string name;
    NodeType type = INVALID_NODE;
    std::vector<std::uint64_t> ctrl_deps;
    std::vector<std::uint64_t> data_deps;
    std::uint64_t start_time_micros = 0;
    std::uint64_t duration_micros = 0;
    IOInfo inputs;
    IOInfo outputs;
    std::vector<AttributeProto> attributes;
  };

  Node() = default;
  explicit Node(Parts parts)
      : id_(parts.id),
        name_(std::move(parts.name)),
        type_(parts.type),
        ctrl_deps_(std::move(parts.ctrl_deps)),
        data_deps_(std::move(parts.data_deps)),
        start_time_micros_(parts.start_time_micros),
        duration_micros_(parts.duration_micros),
        inputs_(std::move(parts.inputs)),
        outputs_(std::move(parts.outputs)),
        attr_(std::move(parts.attributes)) {}

  std::uint64_t id() const { return id_; }
  const std::string& name() const { return name_; }
  NodeType type() const { return type_; }
  const google::protobuf::RepeatedField<std::uint64_t>& ctrl_deps() const { return ctrl_deps_; }
  std::uint64_t ctrl_deps(int index) const { return ctrl_deps_.Get(index); }
  int ctrl_deps_size() const { return ctrl_deps_.size(); }
  const google::protobuf::RepeatedField<std::uint64_t>& data_deps() const { return data_deps_; }
  std::uint64_t data_deps(int index) const { return data_deps_.Get(index); }
  int data_deps_size() const { return data_deps_.size(); }
  std::uint64_t start_time_micros() const { return start_time_micros_; }
  std::uint64_t duration_micros() const { return duration_micros_; }
  const IOInfo& inputs() const { return inputs_; }
  const IOInfo& outputs() const { return outputs_; }
  const google::protobuf::RepeatedPtrField<AttributeProto>& attr() const { return attr_; }
  const AttributeProto& attr(int index) const { return attr_.Get(index); }
  int attr_size() const { return attr_.size(); }

 private:
  std::uint64_t id_ = 0;
  std::string name_;
  NodeType type_ = INVALID_NODE;
  google::protobuf::RepeatedField<std::uint64_t> ctrl_deps_;
  google::protobuf::RepeatedField<std::uint64_t> data_deps_;
  std::uint64_t start_time_micros_ = 0;
  std::uint64_t duration_micros_ = 0;
  IOInfo inputs_;
  IOInfo outputs_;
  google::protobuf::RepeatedPtrField<AttributeProto> attr_;
};

}  // namespace ChakraProtoMsg

#endif
