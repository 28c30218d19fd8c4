#include "cli/engine_flag.h"

#include <CLI/CLI.hpp>

namespace treeline::cli {

void add_engine_flag(CLI::App& app, std::vector<std::string>& engines) {
    app.add_option("--engine", engines,
                   "Print flags for this engine only; repeatable: vllm, sglang, tensorrt-llm or llama.cpp, optionally with a "
                   "version: vllm@0.19 (default: all, at the newest known version)")
        ->type_name("NAME[@VERSION]")
        ->take_all();
}

std::vector<engines::Engine> chosen_engines(const std::vector<std::string>& names) {
    std::vector<engines::Engine> engines;
    for (const std::string& name : names) {
        engines.push_back(engines::find_engine(name));
    }
    return engines.empty() ? engines::newest_engines() : engines;
}

}  // namespace treeline::cli
