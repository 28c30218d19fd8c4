// What is pasted, read back by each engine's own rule, which is written down here a second time:
// vllm/v1/spec_decode/dynamic/utils.py, adaptive_spec_params.py of SGLang, _torch/speculative/utils.py and drafter.py of
// TensorRT-LLM, common/speculative.cpp of llama.cpp.
#pragma once

#include <algorithm>
#include <map>
#include <regex>
#include <string>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "engines/command_line.h"
#include "engines/engine_flags.h"

namespace treeline::testing {

using engines::CommandLine;
using engines::Engine;
using engines::EngineFlags;
using engines::EngineName;
using engines::Flag;
using engines::Flags;
using engines::split_command_line;

/// The number under a key of the YAML that is written; -1 where it is absent.
inline int yaml_number(const std::string& text, const std::string& key) {
    std::smatch match;
    return std::regex_search(text, match, std::regex("\n  " + key + ": ([0-9]+)\n")) ? std::stoi(match[1]) : -1;
}

inline std::map<int, int> yaml_schedule(const std::string& text) {
    std::map<int, int> schedule;
    const std::regex entry("\n    ([0-9]+): ([0-9]+)(?=\n)");
    for (auto at = std::sregex_iterator(text.begin(), text.end(), entry); at != std::sregex_iterator(); ++at) {
        REQUIRE(schedule.emplace(std::stoi((*at)[1]), std::stoi((*at)[2])).second);
    }
    return schedule;
}

inline nlohmann::ordered_json vllm_config(const EngineFlags& flags) {
    const Flags parsed(split_command_line(flags.text).words);
    const Flag* config = parsed.find({"--speculative-config"});
    REQUIRE(config != nullptr);
    REQUIRE(config->value);
    return nlohmann::ordered_json::parse(*config->value);
}

/// Draft tokens at a batch, as the engine reads its flags. Fails where the engine would refuse them.
inline int vllm_length(const EngineFlags& flags, int batch) {
    const nlohmann::ordered_json config = vllm_config(flags);
    const int most = config.at("num_speculative_tokens");
    REQUIRE(most >= 1);
    if (!config.contains("num_speculative_tokens_per_batch_size")) {
        return most;
    }
    int end = 0;
    int length = -1;
    for (const nlohmann::ordered_json& range : config.at("num_speculative_tokens_per_batch_size")) {
        REQUIRE(range.size() == 3);
        const int from = range[0];
        REQUIRE((end == 0 ? from == 1 : from > end));
        REQUIRE(range[1] >= from);
        REQUIRE(range[2] >= 0);
        REQUIRE(range[2] <= most);
        end = range[1];
        length = from <= batch ? range[2].get<int>() : length;
    }
    return length;
}

inline int sglang_length(const EngineFlags& flags, int batch) {
    const Flags parsed(split_command_line(flags.text).words);
    if (const auto block = parsed.number({"--speculative-dflash-block-size"})) {
        return static_cast<int>(*block) - 1;  // the root is part of it
    }
    if (const auto block = parsed.number({"--speculative-dspark-block-size"})) {
        return static_cast<int>(*block);
    }
    const auto tokens = parsed.number({"--speculative-num-draft-tokens"});
    REQUIRE(tokens);
    if (parsed.find({"--speculative-algorithm"})->value == "NGRAM") {
        CHECK(parsed.number({"--speculative-ngram-max-bfs-breadth"}) == 1);
        return static_cast<int>(*tokens) - 1;
    }
    const auto steps = parsed.number({"--speculative-num-steps"});
    REQUIRE(steps);
    CHECK(parsed.number({"--speculative-eagle-topk"}) == 1);
    CHECK(*tokens == *steps + 1);
    if (!parsed.has({"--speculative-adaptive"})) {
        CHECK(flags.file.empty());
        return static_cast<int>(*steps);
    }
    CHECK(parsed.find({"--speculative-adaptive-config"})->value == flags.file);
    std::map<int, int> slots;
    const nlohmann::ordered_json file = nlohmann::ordered_json::parse(flags.file_text);
    for (const auto& [key, slot] : file.items()) {
        REQUIRE(slot.at("candidate_steps").size() == 1);
        slots[std::stoi(key)] = slot["candidate_steps"][0];
    }
    CHECK(std::any_of(slots.begin(), slots.end(), [&](const auto& slot) { return slot.second == *steps; }));
    REQUIRE(slots.begin()->first == 1);
    return std::prev(slots.upper_bound(batch))->second;
}

inline int tensorrt_llm_length(const EngineFlags& flags, int batch, bool upper_bounds) {
    const int most = std::max(yaml_number(flags.text, "max_draft_len"), yaml_number(flags.text, "num_nextn_predict_layers"));
    REQUIRE(most >= 1);
    const std::map<int, int> schedule = yaml_schedule(flags.text);
    if (schedule.empty()) {
        return most;
    }
    CHECK(schedule.begin()->second == most);
    for (const auto& [key, length] : schedule) {
        CHECK(length <= most);
    }
    if (upper_bounds) {
        const auto at = schedule.lower_bound(batch);
        return at == schedule.end() ? 0 : at->second;
    }
    REQUIRE(schedule.begin()->first == 1);
    return std::prev(schedule.upper_bound(batch))->second;
}

inline int llama_cpp_length(const EngineFlags& flags) {
    const Flags parsed(split_command_line(flags.text).words);
    const std::string type = parsed.find({"--spec-type"})->value.value_or("");
    const auto length = parsed.number({type == "ngram-simple" ? "--spec-ngram-simple-size-m" : "--spec-draft-n-max"});
    REQUIRE(length);
    return static_cast<int>(*length);
}

inline int length_at(const Engine& engine, const EngineFlags& flags, int batch) {
    switch (engine.name) {
        case EngineName::vllm:
            return vllm_length(flags, batch);
        case EngineName::sglang:
            return sglang_length(flags, batch);
        case EngineName::tensorrt_llm:
            return tensorrt_llm_length(flags, batch, engine.version != "1.2");
        case EngineName::llama_cpp:
            break;
    }
    return llama_cpp_length(flags);
}

inline int scheduled_length(const sweeps::Schedule& schedule, int batch) {
    int length = schedule.entries.front().draft_tokens;
    for (const sweeps::ScheduleEntry& entry : schedule.entries) {
        length = entry.batch_from <= batch ? entry.draft_tokens : length;
    }
    return length;
}

}  // namespace treeline::testing
