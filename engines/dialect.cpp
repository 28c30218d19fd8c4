#include "engines/dialect.h"

namespace treeline::engines {

const std::vector<Dialect>& all_dialects() {
    static const std::vector<Dialect> all = {detail::vllm_dialect(), detail::sglang_dialect(), detail::tensorrt_llm_dialect(),
                                             detail::llama_cpp_dialect()};
    return all;
}

const Dialect& dialect_of(EngineName name) { return all_dialects().at(static_cast<std::size_t>(name)); }

}  // namespace treeline::engines
