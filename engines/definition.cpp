#include "engines/definition.h"

namespace treeline::engines {
namespace {

/// What each function of a list returns.
template <class List>
auto entries_of(const List& list) {
    std::vector<decltype(list.front()())> entries;
    for (const auto& of_engine : list) {
        entries.push_back(of_engine());
    }
    return entries;
}

}  // namespace

const std::vector<Definition>& all_definitions() {
    static const std::vector<Definition> all = entries_of(list_of_engines);
    return all;
}

const std::vector<Measuring>& all_measurings() {
    static const std::vector<Measuring> all = entries_of(list_of_measuring);
    return all;
}

const std::vector<Linting>& all_lintings() {
    static const std::vector<Linting> all = entries_of(list_of_rules);
    return all;
}

}  // namespace treeline::engines
