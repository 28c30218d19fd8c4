#include "engines/definition.h"

namespace treeline::engines {

const std::vector<Definition>& all_definitions() {
    static const std::vector<Definition> all = [] {
        std::vector<Definition> definitions;
        for (const auto& definition : list_of_engines) {
            definitions.push_back(definition());
        }
        return definitions;
    }();
    return all;
}

}  // namespace treeline::engines
