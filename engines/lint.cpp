#include "engines/lint.h"

#include <fmt/format.h>

#include "engines/lint_input.h"
#include "json/reader.h"

namespace treeline::engines {
namespace {

Engine newest(EngineName name) {
    for (const Engine& engine : newest_engines()) {
        if (engine.name == name) {
            return engine;
        }
    }
    return newest_engines().front();
}

Engine engine_of(const LintInput& input, const std::optional<Engine>& asked) {
    if (!asked && !input.engine) {
        throw text::InputError({"the text names no engine; give it with --engine"});
    }
    const Engine engine = asked ? *asked : input.version.empty() ? newest(*input.engine) : find_engine(input.version);
    if (input.engine && *input.engine != engine.name) {
        throw text::InputError({fmt::format("the text is for {}, not for {}", newest(*input.engine).title, engine.title)});
    }
    if (engine.name == EngineName::llama_cpp && input.form != LintForm::command) {
        throw text::InputError({"llama.cpp takes flags; give its command line"});
    }
    return engine;
}

}  // namespace

LintResult lint(const std::string& text, const std::optional<Engine>& asked, const ReadFile& read_file) {
    const LintInput input = read_lint_input(text);
    const Engine engine = engine_of(input, asked);
    const ReadFile read_or_written = [&](const std::string& path) {
        const auto written = input.written.find(path.substr(path.starts_with("./") ? 2 : 0));
        return written == input.written.end() ? read_file(path) : written->second;
    };
    Findings findings;
    switch (engine.name) {
        case EngineName::vllm:
            lint_vllm(input, engine, findings);
            break;
        case EngineName::sglang:
            lint_sglang(input, engine, read_or_written, findings);
            break;
        case EngineName::tensorrt_llm:
            lint_tensorrt_llm(input, engine, read_or_written, findings);
            break;
        case EngineName::llama_cpp:
            lint_llama_cpp(input, engine, findings);
            break;
    }
    return {engine, input.form_text, findings.take()};
}

}  // namespace treeline::engines
