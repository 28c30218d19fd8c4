// treeline serve: the questions over HTTP, or as a Model Context Protocol server.
#include <chrono>
#include <fstream>
#include <future>
#include <iostream>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/interrupt.h"
#include "engines/priced_engine.h"
#include "library/live_start.h"
#include "reports/live_page.h"
#include "requests/recommend/workload_file.h"
#include "serve/server.h"
#include "serve/stdio.h"
#include "text/input_file.h"
#include "text/output_file.h"
#include "text/parse_number.h"

namespace treeline::cli {
namespace {

constexpr std::size_t shortest_token = 16;
constexpr std::uintmax_t largest_token_file = 4096;
constexpr double bytes_of_gib = 1024.0 * 1024.0 * 1024.0;

struct ServeFlags {
    CommonFlags common;
    bool stdio = false;
    std::string address = "127.0.0.1", port = "8080", token_file, seconds = "10", memory = "4";
    std::vector<std::string> host_names;
};

double number_of(const std::string& flag, const std::string& text, double low, double high) {
    const std::optional<double> value = text::parse_number(text);
    if (!value || *value < low || *value > high) {
        throw text::InputError({fmt::format("{}: must be a number from {:g} to {:g}, not \"{}\"", flag, low, high, text)});
    }
    return *value;
}

std::string token_in(const std::string& file) {
    if (file.empty()) {
        return "";
    }
    std::string token = text::read_file(file, largest_token_file);
    token.erase(token.find_last_not_of(" \t\r\n") + 1);
    if (token.size() < shortest_token || token.find_first_of(" \t\r\n") != std::string::npos) {
        throw text::InputError({fmt::format("{}: must hold one word of at least {} characters", file, shortest_token)});
    }
    return token;
}

/// Whether ThreadSanitizer keeps shadows of the memory, which count as the program's own.
#if defined(__SANITIZE_THREAD__)
constexpr bool keeps_shadows = true;
#elif defined(__has_feature)
constexpr bool keeps_shadows = __has_feature(thread_sanitizer);
#else
constexpr bool keeps_shadows = false;
#endif

/// What the process may write to already, in bytes: its data and stacks (proc(5), statm). 0 where /proc is missing.
std::uint64_t bytes_held() {
    std::ifstream statm("/proc/self/statm");
    std::uint64_t pages = 0;
    for (int field = 1; field <= 6; ++field) {  // the sixth: data and stack
        statm >> pages;
    }
    return statm ? pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

/// Of a thread, in bytes: what is set aside for its stack counts, used or not.
std::uint64_t bytes_of_stack() {
    pthread_attr_t defaults;
    std::size_t bytes = 0;
    ::pthread_attr_init(&defaults);
    ::pthread_attr_getstacksize(&defaults, &bytes);
    ::pthread_attr_destroy(&defaults);
    return bytes;
}

/// Answers that allocate more are refused; what is held already and the stacks of `threads` that will start come on top.
void limit_memory(double gib, std::size_t threads = 0) {
    if (keeps_shadows) {
        return;
    }
    const auto bytes = static_cast<rlim_t>(gib * bytes_of_gib) + bytes_held() + threads * bytes_of_stack();
    const rlimit limit{bytes, bytes};
    static_cast<void>(::setrlimit(RLIMIT_DATA, &limit));
}

std::string page_of(const requests::Catalogue& catalogue) {
    if (!reports::has_live_page()) {
        return "";
    }
    requests::WorkloadSource source = requests::read_workload_text(first_question, "question", {}, catalogue);
    return live_page(engines::answer(std::move(source.input), 0), source.raw, catalogue);
}

serve::ServerInput input_of(const ServeFlags& flags) {
    serve::ServerInput input;
    input.setting.catalogue = flags.common.find();
    input.setting.time_limit =
        std::chrono::milliseconds(static_cast<std::int64_t>(1e3 * number_of("--time-limit", flags.seconds, 0.1, 3600.0)));
    input.address = flags.address;
    input.port = static_cast<int>(number_of("--port", flags.port, 0.0, 65535.0));
    input.rules = {flags.host_names, token_in(flags.token_file)};
    if (!serve::is_loopback(input.address) && input.rules.token.empty()) {
        throw text::InputError({fmt::format(
            "--listen: others reach {}, so --token-file must name a file with what they have to say", input.address)});
    }
    return input;
}

/// Until a signal arrives; then the answers that are being made are sent. Throws where the machine gives it no threads.
void run_until_interrupted(serve::Server& server) {
    const InterruptGuard guard;
    std::future<void> running = std::async(std::launch::async, [&] { server.run(); });
    try {
        while (running.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout) {
            InterruptGuard::check();
        }
    } catch (const Interrupted&) {
        server.stop();
    }
    running.get();
}

void serve_for(const ServeFlags& flags) {
    serve::ServerInput input = input_of(flags);
    if (flags.stdio) {
        limit_memory(number_of("--memory-gib", flags.memory, 0.25, 1e6));
        return serve::serve_messages(std::cin, std::cout, input.setting);
    }
    input.page = page_of(input.setting.catalogue);
    const std::string address = input.address.find(':') == std::string::npos ? input.address : "[" + input.address + "]";
    constexpr std::size_t own_threads = 2;  // one accepts connections, one runs them
    limit_memory(number_of("--memory-gib", flags.memory, 0.25, 1e6), input.limits.connections + own_threads);
    serve::Server server(std::move(input));
    text::write_file("-", fmt::format("Treeline answers at http://{}:{}/ until it is interrupted.\n", address, server.port()));
    run_until_interrupted(server);
}

}  // namespace

Run add_serve(CLI::App& app) {
    auto flags = std::make_shared<ServeFlags>();
    app.add_flag("--stdio", flags->stdio, "Serve the Model Context Protocol over standard input and output instead");
    if (serve::has_http()) {
        app.add_option("--listen", flags->address, "Address to listen at; one that others reach needs --token-file")
            ->type_name("ADDRESS")
            ->capture_default_str();
        app.add_option("--port", flags->port, "Port; 0 is any that is free")->type_name("N")->capture_default_str();
        app.add_option("--token-file", flags->token_file,
                       "File with the word that questions must bring (Authorization: Bearer)")
            ->type_name("FILE");
        app.add_option("--host-name", flags->host_names,
                       "A name by which this machine is asked, besides localhost and addresses; repeatable")
            ->type_name("NAME");
    }
    app.add_option("--time-limit", flags->seconds, "Seconds that an answer may take")->type_name("N")->capture_default_str();
    app.add_option("--memory-gib", flags->memory, "GiB that all answers together may take")
        ->type_name("N")
        ->capture_default_str();
    add_catalogue_flag(app, flags->common);
    const std::string over_http =
        "The live page is at /, the questions are POST /v1/recommend, /v1/estimate, /v1/diagnose and /v1/lint, whose bodies "
        "are\n"
        "the input files of these commands, and GET /v1/openapi.json describes them (docs/serve.md).\n\n"
        "Examples:\n"
        "  treeline serve\n"
        "  treeline serve --listen 0.0.0.0 --port 80 --token-file token.txt --host-name planner.example\n";
    app.footer((serve::has_http() ? over_http : "This treeline was built without HTTP.\n\nExample:\n") +
               "  treeline serve --stdio      # what an agent starts");
    return [flags] { serve_for(*flags); };
}

}  // namespace treeline::cli
