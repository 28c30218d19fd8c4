// Does docs/inputs.md hold every key that the input files may have, and none that they may not? The readers say which keys they
// know of each object (json::Document::known_keys) while they read every example and, for what the examples leave out,
// fragments.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "requests/acceptance/acceptance_study_reader.h"
#include "requests/adaptive/bandit_reader.h"
#include "requests/adaptive/policies_reader.h"
#include "requests/adaptive/traffic_reader.h"
#include "requests/decode/decode_reader.h"
#include "requests/fit/break_even_reader.h"
#include "requests/fpga/fpga_claims_reader.h"
#include "requests/fpga/fpga_explore_reader.h"
#include "requests/fpga/fpga_run_reader.h"
#include "requests/loop/diagnosis_request.h"
#include "requests/loop/lint_request.h"
#include "requests/point_reader.h"
#include "requests/recommend/workload_reader.h"
#include "requests/sweep/sweep_reader.h"
#include "requests/tree_reader.h"
#include "source_folder.h"

namespace inputs_document_test {

using namespace treeline;
using namespace treeline::requests;
namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;
using Words = std::set<std::string>;

const fs::path source = treeline::testing::source_folder();

/// Words in backticks.
Words in_backticks(const std::string& text) {
    Words words;
    for (std::size_t start = text.find('`'); start != std::string::npos;) {
        const std::size_t end = text.find('`', start + 1);
        if (end == std::string::npos) {
            break;
        }
        words.insert(text.substr(start + 1, end - start - 1));
        start = text.find('`', end + 1);
    }
    return words;
}

/// A heading and the keys of the tables below it whose first column is "key". "### Tasks: `tasks` of `treeline study bandit`"
/// is about the object `tasks` of that command's file, "## Sweep: `treeline sweep`" about the file itself, "## Target:
/// `target`" about that object in every file.
struct Section {
    std::string heading;
    Words commands, objects, keys;

    [[nodiscard]] bool is_about(const std::string& command, const std::string& object) const {
        const bool of_command = commands.count(command) > 0 || (commands.empty() && !object.empty());
        return of_command && (object.empty() ? objects.empty() : objects.count(object) > 0);
    }
};

std::vector<Section> sections_of(const fs::path& file) {
    std::vector<Section> sections;
    std::ifstream lines(file);
    bool of_keys = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("#")) {
            Section section{line, {}, {}, {}};
            for (const std::string& word : in_backticks(line)) {
                (word.starts_with("treeline ") ? section.commands : section.objects).insert(word);
            }
            sections.push_back(std::move(section));
        }
        of_keys = line.starts_with("| key |") || (of_keys && line.starts_with("|"));
        if (of_keys && !sections.empty()) {
            sections.back().keys.merge(in_backticks(line.substr(0, line.find('|', 1))));
        }
    }
    return sections;
}

/// Command, and object by its last name ("drafters.acceptance" is an `acceptance` wherever it stands); the file itself is "".
using Place = std::pair<std::string, std::string>;
using Known = std::map<Place, Words>;

/// Objects whose keys are names or numbers of the user's.
bool is_free(const std::string& object) {
    return object == "curve" || object == "when" || object == "accepted_exactly" || object == "categories";
}

void collect(Known& known, const std::string& command, const json::Document& document) {
    const Words quantity = {"kind", "source", "unit", "value"};  // hardware/README.md, "Every number is an object"
    for (const auto& [path, keys] : document.known_keys()) {
        const std::string object = path.substr(path.rfind('.') + 1);
        const bool is_model = command == "treeline decode" && path.starts_with("target");  // models/README.md
        const bool is_run = command == "treeline study claims" && object == "run";         // the file of another command
        if (!is_free(object) && !is_model && keys != quantity) {
            known[is_run ? Place("treeline estimate RUN", "") : Place(command, object)].insert(keys.begin(), keys.end());
        }
    }
}

Descriptions descriptions_at(const fs::path& folder) { return {{source / "models", source / "hardware"}, folder}; }

using Read = std::function<void(json::Document&, Descriptions&)>;

/// What is wrong with a fragment does not matter here; an example must be right.
void read_text(Known& known, const std::string& command, const std::string& text, const Read& read) {
    json::Document document = json::Document::parse(text, "fragment");
    Descriptions descriptions = descriptions_at({});
    try {
        read(document, descriptions);
    } catch (const text::InputError&) {}
    collect(known, command, document);
}

void read_file(Known& known, const std::string& command, const fs::path& file, const Read& read) {
    INFO(file.string());
    json::Document document = json::Document::load(file);
    Descriptions descriptions = descriptions_at(file.parent_path());
    CHECK_NOTHROW(read(document, descriptions));
    collect(known, command, document);
}

void as_point(json::Document& d, Descriptions& s) { static_cast<void>(read_point(d, s)); }
void as_workload(json::Document& d, Descriptions& s) { static_cast<void>(read_workload(d, s)); }
void as_sweep(json::Document& d, Descriptions& s) { static_cast<void>(read_sweep(d, s)); }
void as_break_even(json::Document& d, Descriptions& s) { static_cast<void>(read_break_even(d, s, source / "examples/fits")); }
void as_bandit(json::Document& d, Descriptions& s) { static_cast<void>(read_bandit(d, s)); }
void as_policies(json::Document& d, Descriptions& s) { static_cast<void>(read_policies(d, s)); }
void as_traffic(json::Document& d, Descriptions& s) { static_cast<void>(read_traffic(d, s)); }
void as_acceptance(json::Document& d, Descriptions& s) { static_cast<void>(read_acceptance_study(d, s)); }
void as_decode(json::Document& d, Descriptions& s) { static_cast<void>(read_decode(d, s, {})); }
void as_explore(json::Document& d, Descriptions& s) { static_cast<void>(read_fpga_exploration(d, s, source / "hardware")); }
void as_claims(json::Document& d, Descriptions& s) { static_cast<void>(read_fpga_claims(d, s, source / "hardware")); }
void as_diagnosis(json::Document& d, Descriptions& s) { static_cast<void>(read_diagnosis(d, s)); }
void as_lint(json::Document& d, Descriptions&) { static_cast<void>(read_lint(d)); }
void as_fpga_run(json::Document& d, Descriptions& s) {
    json::Reader root = d.root();
    static_cast<void>(read_fpga_run(root, s, source / "hardware"));
    root.finish();
    d.throw_if_problems();
}

void read_examples(Known& known) {
    for (const fs::directory_entry& entry : fs::directory_iterator(source / "examples")) {
        if (entry.path().extension() != ".json") {
            continue;
        }
        const Json tree = Json::parse(std::ifstream(entry.path()));
        tree.contains("axes")      ? read_file(known, "treeline sweep", entry.path(), as_sweep)
        : tree.contains("traffic") ? read_file(known, "treeline recommend", entry.path(), as_workload)
                                   : read_file(known, "treeline estimate", entry.path(), as_point);
    }
    const std::vector<std::tuple<const char*, const char*, Read>> folders = {
        {"bandit", "treeline study bandit", as_bandit},    {"policies", "treeline study policies", as_policies},
        {"traffic", "treeline study traffic", as_traffic}, {"acceptance", "treeline study acceptance", as_acceptance},
        {"decode", "treeline decode", as_decode},          {"fits", "treeline study break-even", as_break_even}};
    for (const auto& [folder, command, read] : folders) {
        for (const fs::directory_entry& entry : fs::directory_iterator(source / "examples" / folder)) {
            if (entry.path().extension() == ".json" && entry.path().stem() != "sequoia-demo") {  // ranks for `treeline tree`
                read_file(known, command, entry.path(), read);
            }
        }
    }
    read_file(known, "treeline estimate RUN", source / "examples/fpga/specmamba-vck190.json", as_fpga_run);
    read_file(known, "treeline sweep EXPLORATION", source / "examples/fpga/explore-vck190.json", as_explore);
    read_file(known, "treeline study claims", source / "examples/fpga/specmamba-claims.json", as_claims);
}

/// Every kind of drafter and tree, and the objects that may stand where the examples have a text or nothing.
void read_fragments(Known& known) {
    const std::string formats =
        R"({"weights": {}, "attention": {}, "lm_head": {}, "experts": {}, "embeddings": {}, "activations": {}, "kv_cache": {}, "state": {}})";
    for (const std::string& kind : drafter_kinds()) {
        read_text(known, "treeline estimate",
                  R"({"target": {"precision": )" + formats +
                      R"(, "placement": {}}, "platform": {}, "training": {}, "shape": {}, "drafter": {"kind": ")" + kind +
                      R"(", "precision": {}, "acceptance": {"measured": [{}]}}})",
                  as_point);
    }
    read_text(known, "treeline estimate",
              R"({"drafter": {"kind": "eagle3", "acceptance": {"published": "eagle3-llama-3.1-8b", "categories": {}}}})",
              as_point);
    read_text(
        known, "treeline estimate",
        R"({"traffic": {"categories": {}}, "drafter": {"kind": "lookup-first", "lookup": {"kind": "ngram", "acceptance": {}},
                  "otherwise": {"kind": "eagle3", "acceptance": {"file": "none.csv"}}}})",
        as_point);
    read_text(known, "treeline estimate",
              R"({"drafter": {"kind": "cascade", "middle": {"kind": "sparse-self"}, "inner": {"kind": "ngram"}}})", as_point);
    for (const TreeKind& kind : tree_kinds()) {
        const std::string fields = "{\"" + kind.key + "\": {}}";
        read_text(known, "treeline estimate", R"({"shape": )" + fields + "}", as_point);
        read_text(known, "treeline recommend", R"({"shapes": [{}, )" + fields + "]}", as_workload);
    }
    read_text(known, "treeline recommend",
              R"({"platforms": [{}], "drafters": [{}], "limits": {}, "draft_tokens": {"powers_of_two": {}},
                  "traffic": {"batch": [{}], "context": {}}})",
              as_workload);
    read_text(known, "treeline recommend",
              R"({"traffic": {"concurrency": [{}]}, "prompt_tokens": [{}], "output_tokens": {}, "platforms": [{}]})",
              as_workload);
    read_text(known, "treeline recommend", R"({"traffic": {"arrival_rate": [{}]}})", as_workload);
    read_text(known, "treeline recommend",
              R"({"target": "llama-3.1-8b", "platforms": [{"device": "h100-sxm", "stack": "vllm", "gpus": {}}]})", as_workload);
    for (const char* load : {"concurrency", "arrival_rate"}) {
        read_text(known, "treeline sweep", R"({"axes": {")" + std::string(load) + R"(": [4]}})", as_sweep);
    }
    read_text(known, "treeline sweep",
              R"({"axes": {"target": [{}], "precision": [{}], "platform": [{}], "tensor_parallel": {}, "expert_parallel": {},
                  "attention_data_parallel": {}, "pipeline_parallel": {}, "batch": {}, "context": {},
                  "draft_tokens": {}}, "conditions": [{}]})",
              as_sweep);
    read_text(known, "treeline study break-even",
              R"({"tree": {"nodes": {}, "verify": {"law": "linear"}, "drafting": {"by_nodes": {"fit": "none.json"}}},
                  "chain": {"draft_tokens": {}, "simulate": {}}, "acceptance": {}})",
              as_break_even);
    read_text(known, "treeline study break-even",
              R"({"tree": {"shapes": [{}], "verify": {"measured": "none.csv"}}, "chain": {}})", as_break_even);
    read_text(known, "treeline study bandit", R"({"arms": [{}], "tasks": [{}], "sequence": [{}]})", as_bandit);
    read_text(known, "treeline study bandit", R"({"design_point": {}, "tasks": [{}], "sequence": [{}]})", as_bandit);
    read_text(known, "treeline study traffic",
              R"({"output_tokens": {}, "clearing": {}, "simulation": {}, "batch": [1], "settings": [{"shape": {}}]})",
              as_traffic);
    read_text(known, "treeline study traffic", R"({"design_point": {}})", as_traffic);
    read_text(known, "treeline diagnose", R"({"run": {}, "plain": {}})", as_diagnosis);
    read_text(known, "treeline lint", "{}", as_lint);
    read_text(known, "treeline study acceptance", R"({"shapes": [{}], "world": {}, "measured": {"shape": {}, "points": [{}]}})",
              as_acceptance);
    for (const char* kind : {"first-layers", "model", "ngram"}) {
        read_text(known, "treeline decode",
                  R"({"drafter": {"kind": ")" + std::string(kind) + R"("}, "acceptance": {}, "shape": {}})", as_decode);
    }
    read_text(known, "treeline estimate RUN", R"({"changes": {}, "drafter": "mamba2-130m", "shape": {}, "acceptance": {}})",
              as_fpga_run);
    read_text(known, "treeline estimate RUN", R"({"drafter": "mamba2-130m", "shape": "chain:2", "accept_length": 2})",
              as_fpga_run);
    read_text(known, "treeline sweep EXPLORATION", R"({"changes": {}, "trees": [{}], "drafters": [{"acceptance": {}}]})",
              as_explore);
}

const Known& all_known() {
    static const Known known = [] {
        Known found;
        read_examples(found);
        read_fragments(found);
        return found;
    }();
    return known;
}

}  // namespace

TEST_CASE("every key that an input file may have is documented") {
    const std::vector<Section> sections = sections_of(source / "docs/inputs.md");
    REQUIRE(sections.size() > 40);
    REQUIRE(all_known().size() > 60);
    for (const auto& [place, keys] : all_known()) {
        const std::string &command = place.first, &object = place.second;
        for (const std::string& key : keys) {
            INFO(command << ", object \"" << object << "\": key \"" << key << "\" is read, but not in docs/inputs.md");
            CHECK(std::any_of(sections.begin(), sections.end(), [&](const Section& section) {
                return section.is_about(command, object) && section.keys.count(key) > 0;
            }));
        }
    }
}

TEST_CASE("every documented key is read") {
    for (const Section& section : sections_of(source / "docs/inputs.md")) {
        for (const std::string& key : section.keys) {
            INFO(section.heading << ": no reader asks for \"" << key << "\"");
            CHECK(std::any_of(all_known().begin(), all_known().end(), [&](const auto& entry) {
                return section.is_about(entry.first.first, entry.first.second) && entry.second.count(key) > 0;
            }));
        }
    }
}

}  // namespace inputs_document_test
