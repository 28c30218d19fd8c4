#include "engines/dialect.h"

namespace treeline::engines {

// All in the order of EngineName.

const std::vector<Dialect>& all_dialects() {
    static const std::vector<Dialect> all = {detail::vllm_dialect(), detail::sglang_dialect(), detail::tensorrt_llm_dialect(),
                                             detail::llama_cpp_dialect()};
    return all;
}

const Dialect& dialect_of(EngineName name) { return all_dialects().at(static_cast<std::size_t>(name)); }

const Measuring& measuring_of(const Engine& engine) {
    static const std::vector<Measuring> all = {detail::vllm_measuring(), detail::sglang_measuring(),
                                               detail::tensorrt_llm_measuring(), detail::llama_cpp_measuring()};
    return all.at(static_cast<std::size_t>(engine.name));
}

const Linting& linting_of(const Engine& engine) {
    static const std::vector<Linting> all = {detail::vllm_linting(), detail::sglang_linting(), detail::tensorrt_llm_linting(),
                                             detail::llama_cpp_linting()};
    return all.at(static_cast<std::size_t>(engine.name));
}

}  // namespace treeline::engines
