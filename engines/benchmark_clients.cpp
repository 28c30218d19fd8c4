#include "engines/benchmark_clients.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "engines/programs_without_rules.h"
#include "engines/started_engine.h"

namespace treeline::engines {
namespace {

using Words = std::vector<std::string>;

/// Modules and programs that are nothing else.
constexpr std::array<std::string_view, 8> client_programs = {"sglang.bench_serving", "sglang.benchmark.serving",
                                                             "bench_serving.py",     "benchmark_serving.py",
                                                             "genai-perf",           "aiperf",
                                                             "llama-benchy",         "lm_eval"};
/// A program and the words behind it.
constexpr std::array<std::array<std::string_view, 3>, 3> client_commands = {
    {{"vllm", "bench", "serve"}, {"evalscope", "perf", ""}, {"guidellm", "benchmark", ""}}};

/// What the words from `begin` to `end` start; empty where it is no client, or a server before it.
std::string client_of(const Words& words, std::size_t begin, std::size_t end) {
    CommandLine before;
    for (std::size_t i = begin; i < end; before.words.push_back(words[i++])) {
        const std::string program = words[i].substr(words[i].rfind('/') + 1);  // npos + 1 is 0
        if (std::find(client_programs.begin(), client_programs.end(), program) != client_programs.end()) {
            return engine_of_program(before) ? "" : program;
        }
        for (const auto& [name, second, third] : client_commands) {
            const bool whole = program == name && i + 1 < end && words[i + 1] == second &&
                               (third.empty() || (i + 2 < end && words[i + 2] == third));
            if (whole) {
                return engine_of_program(before) ? ""
                                                 : program + " " + words[i + 1] + (third.empty() ? "" : " " + words[i + 2]);
            }
        }
    }
    return {};
}

}  // namespace

std::string take_clients_out(CommandLine& command) {
    std::vector<std::size_t> starts = command.line_starts;
    if (starts.empty() || starts.front() != 0) {
        starts.insert(starts.begin(), 0);
    }
    CommandLine others{command.environment, {}, {}};
    std::string client;
    bool serves = false;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const std::size_t begin = std::min(starts[i], command.words.size()),
                          end = i + 1 < starts.size() ? std::min(starts[i + 1], command.words.size()) : command.words.size();
        const std::string own = client_of(command.words, begin, end);
        client = client.empty() ? own : client;
        if (!own.empty()) {
            continue;
        }
        const CommandLine line{{},
                               {command.words.begin() + static_cast<std::ptrdiff_t>(begin),
                                command.words.begin() + static_cast<std::ptrdiff_t>(end)},
                               {}};
        const bool starts_server = engine_of_command(line) || program_without_rules("", line.words);
        serves = serves || (has_flags(line) && starts_server);
        append(others, line.words, {0});
    }
    if (!client.empty() && serves) {
        command = std::move(others);
        return {};
    }
    return client;
}

}  // namespace treeline::engines
