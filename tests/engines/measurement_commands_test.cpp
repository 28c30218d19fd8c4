// The commands of a planned run start the deployment that was planned for: the server's flags are those that `recommend`
// prints, and lint has nothing against them.
#include <algorithm>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "engines/command_line.h"
#include "engines/lint.h"
#include "engines/measurement_commands.h"
#include "recommendations.h"

namespace measurement_commands_test {

using namespace treeline;
using namespace treeline::engines;
using namespace treeline::testing;
using Json = nlohmann::ordered_json;

namespace {

constexpr int drafts = 3;

sweeps::CandidateRun chain_run(double batch) { return {false, drafts, batch, 1024, 0.01}; }
sweeps::CandidateRun plain_run(double batch) { return {false, 0, batch, 1024, 0.01}; }
sweeps::CandidateRun real_run() { return {true, drafts, 1, 1024, 0.0}; }

sweeps::Recommendation recommended(const sim::Drafter& drafter) {
    sweeps::Recommendation found = recommendation_of(drafter, drafts, {});
    found.candidates.front().accept_length = 2.5;
    return found;
}

sweeps::Variant& variant_of(sweeps::Recommendation& found) { return found.variants.front(); }
sim::Platform& platform_of(sweeps::Recommendation& found) { return variant_of(found).setup.platform; }

/// The drafters of every_drafter() and those that draft in one pass.
std::vector<NamedDrafter> drafters() {
    std::vector<NamedDrafter> all = every_drafter();
    sim::OneLayerDrafter p_eagle = sim::OneLayerDrafter::published_eagle3();
    p_eagle.parallel = true;
    sim::IndependentDrafter pard;
    pard.parallel = true;
    all.push_back({"p-eagle", p_eagle});
    all.push_back({"pard", pard});
    all.push_back({"dflash", sim::ParallelDrafter{}});
    all.push_back({"dspark", sim::ParallelDrafter::published_dspark()});
    return all;
}

struct Deployment {
    std::string name;
    void (*change)(sweeps::Recommendation& found);
};

const std::vector<Deployment>& deployments() {
    static const std::vector<Deployment> all = {
        {"one device", [](sweeps::Recommendation&) {}},
        {"four devices", [](sweeps::Recommendation& found) { platform_of(found).ranks = 4.0; }},
        {"experts on all devices",
         [](sweeps::Recommendation& found) {
             platform_of(found).ranks = 8.0;
             platform_of(found).parallel.experts = 8.0;
         }},
        {"groups of attention",
         [](sweeps::Recommendation& found) {
             platform_of(found).ranks = 2.0;
             platform_of(found).parallel.data = 4.0;
         }},
        {"less memory", [](sweeps::Recommendation& found) { platform_of(found).memory_utilisation = 0.8; }},
        {"many requests",
         [](sweeps::Recommendation& found) {
             found.settled.points = {{200, 1024, 1.0}};
         }},
        {"layers on the host",
         [](sweeps::Recommendation& found) {
             for (sim::LayerKind& kind : variant_of(found).setup.target.kinds) {
                 kind.residence = sim::Residence::experts_on_host;
             }
         }},
        {"a rollback of its own",
         [](sweeps::Recommendation& found) {
             variant_of(found).setup.rollback = sim::Rollback::replay;
             platform_of(found).stack.states.rollback_flags = {{sim::Rollback::replay, "--enable-linear-replayssm-spec"}};
         }},
    };
    return all;
}

/// What `printf` writes of its format, so that YAML can be read.
std::string printed(const std::string& line) {
    std::string text = line.substr(line.find('\'') + 1);
    text.erase(text.rfind('\''));
    for (std::size_t at = text.find("\\n"); at != std::string::npos; at = text.find("\\n", at)) {
        text.replace(at, 2, "\n");
    }
    return text;
}

/// The commands that start the server, as one text that lint reads.
std::string server_of(const Engine& engine, const RunCommands& commands) {
    return engine.name == EngineName::tensorrt_llm ? printed(commands.lines.front()) : commands.lines.front();
}

/// Whether each key of the recommended config stands in the planned one.
bool holds_config(const std::string& planned, const std::string& recommended) {
    const Json has = Json::parse(planned), wanted = Json::parse(recommended);
    return std::all_of(wanted.items().begin(), wanted.items().end(),
                       [&](const auto& item) { return has.contains(item.key()) && has[item.key()] == item.value(); });
}

void check_flags(const std::string& planned, const std::string& recommended) {
    const Flags has(split_command_line(planned).words), wanted(split_command_line(recommended).words);
    for (const Flag& flag : wanted.all()) {
        INFO(flag.name);
        const Flag* found = has.find({flag.name});
        REQUIRE(found != nullptr);
        if (flag.name == "--ctx-size" || flag.name == "--max-model-len") {
            CHECK(found->value.has_value());  // as long as the requests of the run
        } else if (flag.name == "--speculative-config") {
            CHECK(holds_config(found->value.value(), flag.value.value()));
        } else {
            // The last flag of either text may be a switch, which takes the next word for its value.
            CHECK((found->value == flag.value || !flag.value || flag.value->starts_with("--")));
        }
    }
}

void check_lines(const std::string& planned, const std::string& yaml) {
    for (std::size_t at = 0, end = yaml.find('\n'); end != std::string::npos; at = end + 1, end = yaml.find('\n', at)) {
        const std::string line = yaml.substr(at, end + 1 - at);
        CHECK((line.starts_with("# ") || ("\n" + planned).find("\n" + line) != std::string::npos));
    }
}

/// Whether the planned server has what is recommended.
void check_holds(const Engine& engine, const std::string& planned, const std::string& recommended) {
    if (engine.name == EngineName::tensorrt_llm) {
        check_lines(planned, recommended);
    } else {
        check_flags(planned, recommended);
    }
}

/// Without what an older version does more slowly, which the price holds.
std::string findings(const Engine& engine, const std::string& text) {
    std::string all;
    for (const LintFinding& finding : lint(text, engine, [](const std::string&) { return std::nullopt; }).findings) {
        all += finding.kind == FindingKind::downgrade ? "" : finding.text + "\n";
    }
    return all;
}

std::vector<Engine> engines_and_older() {
    std::vector<Engine> all = newest_engines();
    for (const char* older : {"vllm@0.10", "vllm@0.19", "sglang@0.5.11", "tensorrt-llm@1.2"}) {
        all.push_back(find_engine(older));
    }
    return all;
}

int check_deployment(const Engine& engine, sweeps::Recommendation found) {
    int checked = 0;
    for (const sweeps::CandidateRun& run : {real_run(), chain_run(1), chain_run(64), plain_run(64)}) {
        INFO(run.draft_tokens << " drafts at batch " << run.batch << (run.of_acceptance ? ", real" : ""));
        found.speculate = run.draft_tokens > 0;
        const EngineFlags wanted = engines::flags_for(found, engine);
        const RunCommands commands = commands_for(run, engine, found);
        REQUIRE(commands.lines.empty() == wanted.text.empty());
        if (commands.lines.empty()) {
            CHECK(commands.remark == wanted.remark);
            continue;
        }
        const std::string server = server_of(engine, commands);
        INFO(server);
        check_holds(engine, server, wanted.text);
        CHECK((run.draft_tokens == 0 ? "" : findings(engine, server)) == "");
        ++checked;
    }
    return checked;
}

RunCommands commands_on(const char* engine, const sweeps::CandidateRun& run, const sim::Drafter& drafter) {
    return commands_for(run, find_engine(engine), recommended(drafter));
}

/// The number after an option; 0 where the option is absent.
long long number_in(const std::string& command, std::string_view option) {
    return Flags(split_command_line(command).words).number({option}).value_or(0);
}

}  // namespace

TEST_CASE("planned servers have the flags that are recommended for the deployment, clean to lint") {
    int checked = 0;
    for (const Engine& engine : engines_and_older()) {
        for (const NamedDrafter& drafter : drafters()) {
            for (const Deployment& deployment : deployments()) {
                INFO(engine.label() << ", " << drafter.name << ", " << deployment.name);
                sweeps::Recommendation found = recommended(drafter.drafter);
                const bool hybrid = deployment.name == "a rollback of its own";
                if (hybrid && (engine.name != EngineName::sglang || drafter.name == "ngram")) {
                    continue;  // that flag is SGLang's, and priced for no look-ups
                }
                deployment.change(found);
                checked += check_deployment(engine, std::move(found));
            }
        }
    }
    CHECK(checked > 400);
}

TEST_CASE("a drafter's own flags are in the planned command, too") {
    sim::OneLayerDrafter p_eagle = sim::OneLayerDrafter::published_eagle3();
    p_eagle.parallel = true;
    const auto server = [](const char* engine, const sim::Drafter& drafter) {
        return commands_on(engine, chain_run(8), drafter).lines.front();
    };
    CHECK_THAT(server("vllm", p_eagle), Catch::Contains("\"parallel_drafting\":true"));
    CHECK_THAT(server("sglang", sim::NgramDrafter{}),
               Catch::Contains("--speculative-ngram-max-bfs-breadth 1") && !Catch::Contains("--speculative-eagle-topk"));
    CHECK_THAT(server("sglang", sim::ParallelDrafter{}),
               Catch::Contains("--speculative-dflash-block-size 4") && !Catch::Contains("--speculative-num-steps"));
    CHECK_THAT(server("sglang", sim::ParallelDrafter::published_dspark()),
               Catch::Contains("--speculative-dspark-block-size 3"));
    CHECK_THAT(server("llama.cpp", sim::NgramDrafter{}),
               Catch::Contains("--spec-ngram-simple-size-m 3") && !Catch::Contains("--spec-draft-n-max"));
    CHECK_THAT(server("llama.cpp", sim::OneLayerDrafter::published_eagle3()),
               Catch::Contains("--gpu-layers 99") && Catch::Contains("--spec-draft-ngl 99"));
}

TEST_CASE("the run of acceptance sends real requests and has a file of its own") {
    for (const char* engine : {"vllm", "sglang", "tensorrt-llm", "llama.cpp"}) {
        INFO(engine);
        const sim::Drafter drafter = sim::OneLayerDrafter::published_eagle3();
        const std::string real = commands_on(engine, real_run(), drafter).lines.back(),
                          timed = commands_on(engine, chain_run(1), drafter).lines.back();
        CHECK_THAT(real, Catch::Contains("--dataset-name custom --dataset-path YOUR_REQUESTS.jsonl") &&
                             Catch::Contains(" acceptance-drafts-3.json"));
        CHECK_THAT(timed, Catch::Contains("--dataset-name random") && Catch::Contains(" batch-1-drafts-3.json"));
    }
    CHECK_THAT(commands_on("sglang", real_run(), sim::OneLayerDrafter::published_eagle3()).remark,
               Catch::Contains("\"conversations\""));
}

TEST_CASE("the server has a slot for each connection of the client") {
    const sim::Drafter drafter = sim::OneLayerDrafter::published_eagle3();
    for (const sweeps::CandidateRun& run : {real_run(), chain_run(6), chain_run(64), plain_run(64)}) {
        const RunCommands commands = commands_on("llama.cpp", run, drafter);
        INFO(commands.lines.front());
        CHECK(number_in(commands.lines.front(), "--parallel") == number_in(commands.lines.back(), "--max-concurrency"));
    }
}

TEST_CASE("an older vLLM that simulates no acceptance by position is given none, and a remark") {
    const RunCommands commands = commands_on("vllm@0.19", chain_run(8), sim::OneLayerDrafter::published_eagle3());
    CHECK_THAT(commands.lines.front(), !Catch::Contains("synthetic"));
    CHECK_THAT(commands.remark, Catch::Contains("a real drafter is needed"));
}

}  // namespace measurement_commands_test
