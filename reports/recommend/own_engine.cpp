#include "reports/recommend/own_engine.h"

#include <algorithm>
#include <iterator>

namespace treeline::reports {

bool is_stack_of(const engines::Engine& engine, const std::string& stack) {
    return stack == engine.word || stack.starts_with(engine.word + "-");
}

std::vector<engines::EngineFlags> own_engine_flags(const sweeps::Answer& answer, const std::vector<engines::Engine>& engines) {
    const std::string& stack = sweeps::recommended_variant(answer).setup.platform.stack.name;
    const bool named = engines.size() < engines::newest_engines().size();
    std::vector<engines::Engine> own;
    std::copy_if(engines.begin(), engines.end(), std::back_inserter(own),
                 [&](const engines::Engine& engine) { return named || is_stack_of(engine, stack); });
    return engines::engine_flags(*answer.result.recommendation, own);
}

}  // namespace treeline::reports
