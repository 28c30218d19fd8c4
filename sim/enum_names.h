// Names of enumerators: one table beside each enumeration, which every name, list of names and reader comes from.
//
//   enum class Bound { memory, compute };
//   constexpr auto names_in(Bound) {
//       return enum_names<Bound>({{Bound::memory, "memory"}, {Bound::compute, "compute"}});
//   }
//
// An enumerator without a name does not compile.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace treeline {

template <typename Enum>
struct EnumName {
    Enum value;
    std::string_view name;
};

namespace detail {

/// GCC and Clang print a value that is no enumerator as a number: "value = (treeline::Bound)2".
template <auto value>
consteval bool is_enumerator() {
    return std::string_view(__PRETTY_FUNCTION__).find("value = (") == std::string_view::npos;
}

}  // namespace detail

/// All enumerators with their names, in the order of their values 0, 1, 2, …
template <typename Enum, std::size_t count>
consteval std::array<EnumName<Enum>, count> enum_names(const EnumName<Enum> (&names)[count]) {
    static_assert(!detail::is_enumerator<static_cast<Enum>(count)>(), "an enumerator has no name");
    for (std::size_t i = 0; i < count; ++i) {
        if (static_cast<std::size_t>(names[i].value) != i) {
            throw "names must be in the order of the enumerators";
        }
    }
    return std::to_array(names);
}

/// An enumeration with a table of names.
template <typename Enum>
concept NamedEnum = requires(Enum value) {
    names_in(value)[0].name;
};

template <NamedEnum Enum>
constexpr std::string_view name_of(Enum value) {
    constexpr auto names = names_in(Enum{});
    return names[static_cast<std::size_t>(value)].name;
}

template <NamedEnum Enum>
constexpr std::optional<Enum> value_named(std::string_view name) {
    for (const EnumName<Enum>& entry : names_in(Enum{})) {
        if (entry.name == name) {
            return entry.value;
        }
    }
    return std::nullopt;
}

/// Every enumerator.
template <NamedEnum Enum>
constexpr auto values_of() {
    constexpr auto names = names_in(Enum{});
    std::array<Enum, names.size()> values{};
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = names[i].value;
    }
    return values;
}

template <NamedEnum Enum>
std::vector<std::string> names_of() {
    std::vector<std::string> names;
    for (const EnumName<Enum>& entry : names_in(Enum{})) {
        names.emplace_back(entry.name);
    }
    return names;
}

}  // namespace treeline
