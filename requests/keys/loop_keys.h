// Keys of the questions that are asked about runs and configurations (treeline serve).
#pragma once

#include "json/key.h"

namespace treeline::requests::diagnosis_keys {

using namespace json;

inline constexpr PartKey run{
    "run", "object or text",
    "the deployment with its drafter: what `treeline import` writes, or the text of a file that it reads"};
inline constexpr PartKey plain{"plain", "object or text",
                               "the same deployment without a drafter, or with it on another back end, build, cache or device",
                               "plain steps of `run`"};
inline constexpr PartKey point{"point", "object", "what was served: model, platform and drafter, as a design point"};

inline std::vector<KeyRow> rows() { return rows_of(run, plain, point); }

}  // namespace treeline::requests::diagnosis_keys

namespace treeline::requests::lint_keys {

using namespace json;

inline constexpr TextKey text{
    "text", "text", {}, "the configuration: a command line, or the text of a file that `treeline lint` reads"};
inline constexpr TextKey engine{"engine", "name", "", "engine and version, as in `vllm@0.19`", "by content, the newest"};

inline std::vector<KeyRow> rows() { return rows_of(text, engine); }

}  // namespace treeline::requests::lint_keys
