// The parts of a design point as input files write them; every input file of the program is made of these.
//
// The functions note problems in the reader's document and return something harmless, so that all problems of a file are
// reported at once: call Document::throw_if_problems() before using the results.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/key.h"
#include "json/reader.h"
#include "requests/descriptions.h"
#include "requests/traffic_kind.h"
#include "sim/input_limits.h"
#include "sweeps/choices.h"
#include "sweeps/design_space.h"

namespace treeline::requests {

/// {"model": name or path, "precision"?: ...}, or the name alone.
sweeps::TargetChoice read_target(json::Reader at, Descriptions& descriptions);

/// Reports a checkpoint that the engine which was asked for does not load: `key` is the target's.
void check_loading(json::Reader& at, std::string_view key, const sweeps::TargetChoice& target, const sim::Platform& platform);

/// What people read for the precision that an input asks for: its word, the word of its "checkpoint" with what is stated
/// otherwise ("q4_k_m, key-value cache int8"), or all of its parts.
std::string precision_label(const nlohmann::ordered_json& asked, const sim::Precision& precision);

/// What a checkpoint holds that a word names ("fp8", "q4_k_m"); nothing for a word that names none.
std::optional<sim::Precision> precision_named(const std::string& word, const sim::Precision& published);
/// The precision under `key`: what checkpoints of that name hold ("bf16", "fp8", "nvfp4", …: checkpoint_precision()), or
/// an object whose parts replace those of `published`; without the key, `published`.
sim::Precision read_precision(json::Reader& at, std::string_view key, const sim::Precision& published);
/// The same, from an object already opened.
sim::Precision read_precision_parts(json::Reader parts, const sim::Precision& published);

/// {"device": name or path, "tensor_parallel"?: 8 (and the other degrees of requests/parallelism_reader.h), "interconnect"?:
/// "nvlink", "stack"?: name or path, "mode"?: "roofline", "calibrated" or "hoi"}, or the device's name alone. The device may be
/// an accelerator design, on its own board, or a board with {"design": name or path}; neither takes a stack or mode.
sim::Platform read_platform(json::Reader at, Descriptions& descriptions);
/// The same for a search, where "gpus" stands for every cut of so many devices, or of up to so many: several platforms
/// (read_cuts()).
std::vector<sim::Platform> read_platforms(json::Reader at, Descriptions& descriptions, const sim::Model& target,
                                          std::vector<sweeps::Exclusion>* excluded = nullptr);
/// The mode that the text under `key` names.
sim::CostMode read_mode(json::Reader& at, std::string_view key);
/// Notes a problem if the mode needs a calibration that the device lacks; otherwise notes where its laws come from.
void check_mode(json::Reader& at, const sim::Platform& platform, Descriptions& descriptions);

/// What a published drafter is to be used for.
struct DrafterUse {
    const sim::Model* target = nullptr;  ///< checked against the one that it was trained for; null = nothing to check
    sim::TrafficKind traffic;            ///< whose acceptance is asked for, unless the drafter says otherwise
    bool lengths_stated = false;         ///< the input says what is drafted; else drafters go as far as they were measured
};

/// requests/drafter_kinds.cpp lists the kinds and their keys. A published drafter is {"published": its name}.
sweeps::DrafterChoice read_drafter(json::Reader at, Descriptions& descriptions, const DrafterUse& use = {});

/// In place of a drafter: plain decoding.
inline constexpr std::string_view no_drafter_word = "none";

/// The words that "kind" may be.
const std::vector<std::string>& drafter_kinds();
bool is_kind(const std::string& word);
/// The kind that a word spells, whatever its capitals and marks ("EAGLE-3" is eagle3, "p_eagle" p-eagle); empty if none.
std::string kind_of_word(const std::string& word);

/// How many drafts are accepted. Of a chain: one of {"rate": 0.8}, {"per_position": [0.8, 0.6]}, {"mean_length": 3.2,
/// "draft_tokens": 4}, {"curve": {"1": 1.8, "2": 2.5}} and {"geometric": 0.8}. A rate or a mean length falls by `usual_fall`
/// unless it says otherwise. Of siblings: "per_rank": [0.6, 0.2]; alone, its first rank is the rate of chains. Of shapes that
/// were measured: "measured": [{"shape": "branching:3,2", "accept_length": 2.4}]. An optional "source".
struct AcceptanceChoice {
    sim::DraftAcceptance acceptance;
    std::string text, source;
    std::vector<std::string> remarks = {};  ///< on measurements that are not of this traffic; the source ends in them
    /// Of a run whose look-up drafted in a share of the rounds only: that share, and its acceptance over these alone.
    struct Found {
        double hit_rate = 1.0;
        sim::Acceptance chain;
    };
    std::optional<Found> found = {};
};
AcceptanceChoice read_acceptance(json::Reader at, Descriptions& descriptions, const sim::TrafficKind& traffic = {},
                                 double usual_fall = sim::measured_fall);

struct PublishedDrafter;
/// What others measured of a drafter, in this traffic, with the rest of the catalogue as neighbours. Trees that were measured
/// in all of it keep their accept lengths.
AcceptanceChoice published_acceptance(const PublishedDrafter& drafter, const sim::TrafficKind& traffic,
                                      Descriptions& descriptions);

/// Whether a published drafter was made for this model, by its names in the catalogue and on Hugging Face.
bool drafts_for(const PublishedDrafter& drafter, const sim::Model& target);
/// It with the acceptance that was measured, in this traffic. Throws InputError.
sweeps::DrafterChoice published_choice(const PublishedDrafter& drafter, const sim::TrafficKind& traffic,
                                       Descriptions& descriptions);

/// "greedy" (also without the key) or "sampling".
sim::Decoding read_decoding(json::Reader& at);
/// The policy under `key`; nothing for "auto" or without the key.
std::optional<sim::Rollback> read_rollback(json::Reader& at, std::string_view key);
/// A policy's name; a problem is noted for anything else.
std::optional<sim::Rollback> rollback_of(json::Reader& at, std::string_view key, const std::string& name);

/// Whole numbers: 5, [1, 2, 4], {"from": 1, "to": 8, "step"?: 1} or {"powers_of_two": {"from": 1, "to": 256}}. Empty lists,
/// reversed ranges, repeated values and more than `most_axis_values` are problems.
std::vector<int> read_axis(json::Reader& at, std::string_view key, int low, int high);
inline std::vector<int> read(json::Reader& at, const json::AxisKey& key) { return read_axis(at, key, key.low, key.high); }
inline constexpr std::size_t most_axis_values = 100'000;

}  // namespace treeline::requests
