// Keys of `treeline study bandit` and `treeline study traffic`.
#pragma once

#include "requests/keys/shared_keys.h"
#include "sweeps/adaptive/bandit.h"
#include "sweeps/adaptive/speed_table.h"

namespace treeline::requests::bandit_keys {

using namespace shared_keys;

/// A longer run would take minutes.
inline constexpr std::int64_t most_simulated_rounds = 200'000'000;

inline constexpr NumberKey exploration{"exploration", "", 0.0, 1e6, {}, "λ of the confidence bound"};
inline constexpr ChoiceKey<sweeps::BanditReward> reward{
    "reward", sweeps::BanditReward::published, "what is maximised", {}, ": the reward of Mamba Drafters, or tokens per time"};
inline constexpr SwitchKey restart_with_task{"restart_with_task", false, "forget what was learnt when the task changes"};
inline constexpr PartKey default_shape{"default", "name of a shape", "shape used without a bandit", "none"};
inline constexpr CountKey repetitions{"repetitions", 2, 100'000, 40, "simulated runs"};
inline constexpr PartKey tasks{"tasks", "list of objects", "kinds of text with acceptances of their own"};
inline constexpr PartKey sequence{"sequence", "list of objects", "order of the tasks"};
inline constexpr PartKey arms{"arms", "list of objects", "shapes with their times, or …"};
inline constexpr PartKey design_point{"design_point", "object", "… a set-up to price"};
inline constexpr NumberKey draft_share{
    "draft_share", "", 0.0, 1e3, {}, "time of a draft level over that of a plain step", "of `design_point`: priced"};
inline constexpr CountKey batch{"batch", 1, sim::largest_batch, 1, "sequences decoded together, with `design_point`"};

inline std::vector<KeyRow> rows() {
    return rows_of(title, source, exploration, reward, restart_with_task, default_shape, repetitions, tasks, sequence, arms,
                   design_point, draft_share, batch);
}

}  // namespace treeline::requests::bandit_keys

namespace treeline::requests::arm_keys {

using namespace json;
using shared_keys::source;

inline constexpr PartKey shape{"shape", "text or object", "a tree, or …"};
inline constexpr CountKey draft_passes{"draft_passes", 0, sim::most_draft_tokens, {}, "… its levels alone"};
inline constexpr TextKey name{"name", "text", {}, "its name in results", "the shape"};
inline constexpr NumberKey round_ms{"round_ms", "ms", 1e-9, 1e7, {}, "time of a round"};

inline std::vector<KeyRow> rows() { return rows_of(shape, draft_passes, name, round_ms, source); }

}  // namespace treeline::requests::arm_keys

namespace treeline::requests::task_keys {

using namespace json;
using shared_keys::source;

inline constexpr TextKey name{"name", "text", {}, "its name in results"};
inline constexpr PartKey acceptance{"acceptance", "object", "of positions or ranks, or …",
                                    "with `design_point`: the drafter's"};
inline constexpr PartKey accepted_exactly{"accepted_exactly", "object",
                                          "… by name of a shape, P(exactly 0, 1, … drafts are accepted)"};

inline std::vector<KeyRow> rows() { return rows_of(name, acceptance, accepted_exactly, source); }

}  // namespace treeline::requests::task_keys

namespace treeline::requests::sequence_keys {

using namespace json;

inline constexpr PartKey task{"task", "name of a task", "what is decoded"};
inline constexpr CountKey rounds{"rounds", 1, bandit_keys::most_simulated_rounds, {}, "for how many rounds"};

inline std::vector<KeyRow> rows() { return rows_of(task, rounds); }

}  // namespace treeline::requests::sequence_keys

namespace treeline::requests::policies_keys {

using namespace shared_keys;

inline constexpr PartKey design_point{"design_point", "object", "a set-up to price, without `draft_tokens` and `shapes`, or …"};
inline constexpr PartKey measured{"measured", "object", "… what fixed draft lengths were measured to decode"};
inline constexpr AxisKey batch{"batch", 1, 4096, "sequences decoded together; each is simulated"};
inline constexpr CountKey longest{
    "longest", 1, 64, 7, "most draft tokens of a policy", "7; of `measured` the longest that was measured"};
inline constexpr NumberKey draft_spread{
    "draft_spread", "logits", 0.0, 10.0, 1.5, "how much drafts differ in their chance of acceptance, which confidence shows"};
inline constexpr NumberKey request_spread{"request_spread", "logits", 0.0, 10.0, 0.5, "how much requests differ"};
inline constexpr NumberKey confidence_error{
    "confidence_error", "logits", 0.0, 10.0, 0.0, "how far the confidence that policies see is from the chance of acceptance"};
inline constexpr CountKey output_tokens{"output_tokens", 1, 1'000'000, 256, "mean tokens of an answer"};
inline constexpr NumbersKey cut_offs{"cut_offs", 0.0, 1.0, "thresholds of the confidence cut-off", "0.3, 0.5 and 0.7"};
inline constexpr AxisKey candidates{"candidates", 1, 64, "draft lengths among which SGLang's policies choose", "1, 3, 5 and 7"};
inline constexpr CountKey rounds{"rounds", 200, 1'000'000, 1000, "rounds of a simulated run; fewer at large batches"};
inline constexpr CountKey repetitions{"repetitions", 2, 10'000, 10, "simulated runs"};

inline std::vector<KeyRow> rows() {
    return rows_of(title, source, design_point, measured, batch, longest, draft_spread, request_spread, confidence_error,
                   output_tokens, cut_offs, candidates, rounds, repetitions);
}

}  // namespace treeline::requests::policies_keys

/// Measured rates in place of a set-up.
namespace treeline::requests::measured_policies_keys {

using namespace json;

inline constexpr PartKey lengths{"lengths", "list of objects",
                                 "each `draft_tokens` with its `tokens_per_second`; 0 is plain decoding and belongs to it"};
inline constexpr PartKey acceptance{"acceptance", "object", "how many of the drafts are accepted"};
inline constexpr SwitchKey parallel{"parallel", false, "one pass drafts all tokens"};
inline constexpr NumbersKey draft_ms{
    "draft_ms", 0.0, 1e7, "time of a draft pass at each batch",
    "of `parallel` what the shortest two lengths, continued to none, take more than plain decoding; else 0, in verification"};
inline constexpr PartKey policies{"policies", "list of objects", "what policies were measured to decode, to compare", "none"};

inline std::vector<KeyRow> rows() { return rows_of(lengths, acceptance, parallel, draft_ms, policies); }

}  // namespace treeline::requests::measured_policies_keys

/// Elements of `lengths` and `policies` of measured rates.
namespace treeline::requests::measured_rate_keys {

using namespace json;

inline constexpr CountKey draft_tokens{"draft_tokens", 0, 64, {}, "of an element of `lengths`"};
inline constexpr TextKey policy{"policy", "name", {}, "of an element of `policies`, as results print it: `cut-off 0.3`"};
inline constexpr NumbersKey tokens_per_second{"tokens_per_second", 1e-6, 1e9, "of all sequences, at each batch"};

inline std::vector<KeyRow> rows() { return rows_of(draft_tokens, policy, tokens_per_second); }

}  // namespace treeline::requests::measured_rate_keys

/// A set-up with several shapes.
namespace treeline::requests::design_point_keys {

using namespace shared_keys;

inline constexpr PartKey drafter{"drafter", "text or object", "who drafts"};

inline std::vector<KeyRow> rows() {
    return rows_of(target, platform, drafter, draft_tokens, shapes, verification, context, rollback, decoding);
}

}  // namespace treeline::requests::design_point_keys

namespace treeline::requests::requests_keys {

using namespace shared_keys;

inline constexpr std::int64_t most_capacity = 4096, most_output_tokens = 1'000'000;
inline constexpr double most_milliseconds = 1e7;

inline constexpr NumbersKey arrivals_per_second{"arrivals_per_second", 1e-6, 1e6,
                                                "requests; one number, or an increasing list"};
inline constexpr NumbersKey concurrency{"concurrency", 1, most_capacity,
                                        "instead: whole numbers of requests that clients keep in flight, likewise"};
inline constexpr CountKey capacity{"capacity", 1, most_capacity, {}, "sequences decoded at once"};
inline constexpr CountKey output_tokens{"output_tokens",       1,  most_output_tokens, {},
                                        "length of an answer", {}, ", or an object"};
inline constexpr NumberKey prefill_ms{"prefill_ms",      "ms", 0.0,
                                      most_milliseconds, 0.0,  "how long a new request holds up decoding"};
inline constexpr PartKey clearing{"clearing", "object", "a queue cleared periodically", "none: requests join at once"};
inline constexpr PartKey simulation{"simulation", "object", "size of the simulation", "see below"};
inline constexpr PartKey settings{"settings", "list of objects", "speculation settings with their times, or …"};
inline constexpr PartKey batch{"batch", "list", "batches of those times"};
inline constexpr PartKey design_point{"design_point", "object", "… a set-up to price; plain decoding is a setting in any case"};

inline std::vector<KeyRow> rows() {
    return rows_of(title, source, arrivals_per_second, concurrency, capacity, output_tokens, prefill_ms, clearing, simulation,
                   settings, batch, design_point);
}

}  // namespace treeline::requests::requests_keys

namespace treeline::requests::answer_keys {

using namespace json;

inline constexpr NumberKey mean{"mean", "tokens", 1.0, requests_keys::most_output_tokens, {}, "mean length"};
inline constexpr ChoiceKey<sweeps::OutputLength> distribution{"distribution", {}, "how lengths are distributed"};

inline std::vector<KeyRow> rows() { return rows_of(mean, distribution); }

}  // namespace treeline::requests::answer_keys

namespace treeline::requests::clearing_keys {

using namespace json;

inline constexpr std::array<std::string_view, 2> openings = {"last_clearing", "first_request"};

inline constexpr NumberKey wait_ms{
    "wait_ms", "ms", 1e-3, requests_keys::most_milliseconds, {}, "from one clearing to the next"};
inline constexpr WordKey opens{"opens", openings, openings[0], "when the wait begins"};

inline std::vector<KeyRow> rows() { return rows_of(wait_ms, opens); }

}  // namespace treeline::requests::clearing_keys

namespace treeline::requests::simulation_keys {

using namespace json;

inline constexpr CountKey requests{"requests", 10, 10'000'000, 1000, "requests of a run"};
inline constexpr CountKey warm_up{"warm_up", 0, 10'000'000, {}, "requests that are not counted", "a quarter of them"};
inline constexpr CountKey repetitions{"repetitions", 2, 10'000, 10, "runs"};

inline std::vector<KeyRow> rows() { return rows_of(requests, warm_up, repetitions); }

}  // namespace treeline::requests::simulation_keys

namespace treeline::requests::setting_keys {

using namespace json;
using shared_keys::source;

inline constexpr TextKey name{"name", "text", {}, "its name in results"};
inline constexpr NumbersKey round_ms{"round_ms", 1e-6, requests_keys::most_milliseconds, "ms of a round at each `batch`"};
inline constexpr PartKey shape{"shape", "text or object", "a tree, with its `acceptance`, or …", "none: plain decoding"};
inline constexpr PartKey acceptance{"acceptance", "object", "how many of its drafts are accepted"};
inline constexpr PartKey accepted_exactly{"accepted_exactly", "list of 0 to 1", "… P(exactly 0, 1, … drafts are accepted)"};

inline std::vector<KeyRow> rows() { return rows_of(name, round_ms, shape, acceptance, accepted_exactly, source); }

}  // namespace treeline::requests::setting_keys
