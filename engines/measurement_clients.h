// What the servers and clients of a planned run have in common, whichever the engine.
#pragma once

#include <string>
#include <vector>

#include "engines/flag_plan.h"
#include "sweeps/measurement_plan.h"

namespace treeline::engines {

inline constexpr double answer_tokens = 256.0;

/// Tokens of a prompt, so that answers pass through the planned context in their middle.
double prompt_of(const sweeps::CandidateRun& run);

/// The requests that the client keeps running at once, for which the server has room.
double clients_of(const sweeps::CandidateRun& run);

/// What clients ask for; `exact` is the flag with which a client keeps answers to their length.
std::string asked_in(const sweeps::CandidateRun& run, const char* exact);

/// The name of a run's result without its extension; no two runs of a plan share it.
std::string result_of(const sweeps::CandidateRun& run);

/// The client of vLLM, which reaches other engines' servers as well; flags for those have a blank after them.
std::string vllm_client(const FlagPlan& plan, const sweeps::CandidateRun& run, const char* other_server = "");

/// P(the first i drafts are accepted) with this accept length, as many ones as it has whole tokens: the engine's own rule for a
/// length, so that lengths and rates say the same.
std::vector<double> rates_for(double accept_length, int drafts);

/// Lines that both vLLM's client and others read.
inline constexpr std::string_view prompts_alone = R"({"prompt": "..."})";

}  // namespace treeline::engines
