// What each engine, at each version whose source was read, accepts for speculation: drafters and their names, shapes, the form
// of a schedule by batch, how it counts, the keys it knows. engines/*/records.cpp hold the facts; writers and lint only read
// them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engines/drafter_kind.h"
#include "sim/precision.h"
#include "text/version.h"

namespace treeline::engines {

enum class EngineName { vllm, sglang, tensorrt_llm, llama_cpp };

/// How draft lengths by batch size are written.
enum class ScheduleForm {
    none,
    ranges,        ///< [[from, to, K], …]; gaps and everything above keep the previous K (vLLM)
    slots,         ///< {"from": {"candidate_steps": [K]}, …} in a file (SGLang)
    lower_bounds,  ///< {from: K, …}; must hold 1, whose K is the largest (TensorRT-LLM up to 1.2)
    upper_bounds   ///< {to: K, …}; the smallest key's K is the largest, above the last key 0 (TensorRT-LLM from 1.3)
};

/// Which trees an engine can draft.
enum class EngineTrees { none, sglang, tensorrt_llm };

/// A drafter, in an engine's terms.
struct EngineDrafter {
    DrafterKind kind;
    std::string word;         ///< value of the key that selects the method
    bool needs_path = false;  ///< a checkpoint of its own must be given
    bool scheduled = false;   ///< a schedule by batch applies to it
};

/// A drafter that an engine does not run, and why, as the end of a sentence about it.
struct RefusedDrafter {
    DrafterKind kind;
    std::string why;
};

/// A key that is no longer accepted, and what to do instead, as the end of a sentence ("was removed in 0.21; …").
struct RetiredKey {
    std::string key;
    std::string instead;
    bool works = false;  ///< an old name that the engine still takes, with a warning
};

/// A format of keys and values, and the value of the engine's option that asks for it.
struct CacheFormat {
    sim::NumberFormat format;
    std::string word;
};

/// A flag beside those of speculation, under the name that it has since a version.
struct DatedFlag {
    std::string since;
    std::string name;
};

/// The month in which a version was published: {"0.19", "2026-04"}.
struct Release {
    std::string version;
    std::string month;
};

/// One engine at one version.
struct Engine {
    EngineName name;
    std::string word;     ///< as in --engine: "vllm"
    std::string title;    ///< "vLLM"
    std::string version;  ///< whose source was read: "0.19"
    std::string asked;    ///< another version that was requested and that this one represents; usually empty
    ScheduleForm schedule = ScheduleForm::none;
    EngineTrees trees = EngineTrees::none;
    bool counts_root = false;  ///< its number of draft tokens includes the root (SGLang)
    std::vector<EngineDrafter> drafters;
    std::vector<std::string> methods;  ///< every value of the key that selects the method
    std::vector<std::string> keys;     ///< every key (or flag) of speculation
    std::vector<RetiredKey> retired;
    std::vector<RefusedDrafter> refused;   ///< of those that it lacks, where there is more to say than that
    std::string source;                    ///< repository, file, and commit or release that was read
    std::vector<CacheFormat> caches;       ///< formats of keys and values that a flag asks for
    std::vector<std::string> cache_words;  ///< every value of that flag; empty where the list was not read
    /// Names of one flag after the other, oldest first: a flag of the lists is not taken before, nor under another of its
    /// names.
    std::vector<std::vector<DatedFlag>> dated_flags;
    std::vector<Release> releases;  ///< of all its versions, oldest first
    double least_capability = 0.0;  ///< NVIDIA compute capability below which its builds have no kernels; 0 = any

    /// "vLLM 0.19", "vLLM 0.21 (as 0.19)".
    [[nodiscard]] std::string label() const;
    /// Null if it has no such drafter.
    [[nodiscard]] const EngineDrafter* drafter(DrafterKind kind) const;
    [[nodiscard]] bool takes(const std::string& key) const;
    /// Whether the key that selects the method takes this value.
    [[nodiscard]] bool knows(const std::string& method) const;
    /// Of the version that was asked for: {0, 5, 18} of "0.5.18", whose rules are those of 0.5.11.
    [[nodiscard]] text::Version numbers() const;
    /// What a flag is called at this version; empty where the version lacks it.
    [[nodiscard]] std::string flag_at(const std::string& flag) const;
    /// The version since which it has a flag; empty where that is not known.
    [[nodiscard]] std::string flag_since(const std::string& flag) const;
    /// The release after it and after its own patches ("0.11" after "0.10"): it is no younger. Nothing where none is known.
    [[nodiscard]] std::optional<Release> followed_by() const;
    void add_keys(const std::vector<std::string>& more) { keys.insert(keys.end(), more.begin(), more.end()); }
    /// With which value of its option keys and values are kept so; empty if with none.
    [[nodiscard]] std::string cache_word(sim::NumberFormat format) const;
};

/// Every engine at every version whose source was read: engine by engine, oldest version first.
const std::vector<Engine>& all_engines();

/// Each engine at its newest version.
std::vector<Engine> newest_engines();

/// "vllm", "vllm@0.19", "trtllm@1.2". A version between two known ones gets the older one. Throws InputError with a sentence
/// for an unknown engine, and for a version older or newer than all known ones.
Engine find_engine(const std::string& text);
/// Where the version that was asked for lies between two known ones: the later of them, as nothing is known of what came in
/// between. Null for a known version and its patches (0.19.1 is a 0.19), and for one that is older than all.
const Engine* next_known(const Engine& engine);
/// Whether a text "vllm@0.6.3" names a version before the first whose rules are known.
bool older_than_known(const std::string& text);

}  // namespace treeline::engines
