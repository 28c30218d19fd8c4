// The words and figures of an objective, the same in the headline, the tables and the page.
#pragma once

#include <string>

#include "sweeps/recommend.h"

namespace treeline::reports {

/// "most tokens/s per device".
std::string goal_text(sweeps::Objective objective);

/// What is compared, as a reader knows it: "tokens/s per device", "time per token", "price per token", "energy per token".
std::string quantity_text(sweeps::Objective objective);

/// A configuration's figure with its unit: "175 tokens/s per device", "4.93 ms per token", "$1.20 per million tokens", "0.6 J
/// per token".
std::string figure_text(const sweeps::TrafficMeans& means, sweeps::Objective objective);

/// A gain in the objective: "1.79x the tokens/s of plain decoding", "1.62x the speed of plain decoding", "1.7x the tokens per
/// dollar of plain decoding", "1.5x the tokens per joule of plain decoding".
std::string gain_text(double gain, sweeps::Objective objective);

/// One cell of a table whose heading is objective_heading(): "175", "4.93 ms", "$1.20", "0.6 J".
std::string objective_cell(const sweeps::TrafficMeans& means, sweeps::Objective objective);
std::string objective_heading(sweeps::Objective objective);

/// Mean TTFT: "1.07 s", or "grows" where requests come faster than they are answered.
std::string first_token_text(const sweeps::Recommendation& found, const sweeps::Candidate& candidate);

/// What regret means, for the note below a table.
std::string regret_text(sweeps::Objective objective);

/// What the means on a page are taken over: "Traffic shares are shares of time; …".
std::string traffic_text(const sweeps::Traffic& traffic);

/// "4, 32, 128 requests in flight"
std::string load_text(const sweeps::Traffic& traffic);

/// Whether answers have one token, which their prompts yield: there is no time between tokens then.
inline bool has_one_token(const sim::RoundSetup& setup) { return setup.output_tokens > 0.0 && setup.output_tokens <= 1.0; }

/// A sentence without what is for who is at a command line: flags.
std::string on_a_page(std::string sentence);

/// " (decoding alone; …)" with the flags that price served traffic; nothing where prompts count.
std::string decoding_alone_text(const sim::RoundSetup& setup);

/// "memory", "the TPOT limit", "the TTFT limit", "the minimum gain".
std::string limit_text(sweeps::Limit limit);

/// Where speculation stops paying and, if it does, where the schedule ends; `capacity` is that of the same server.
std::string schedule_text(const sweeps::Schedule& schedule, const sweeps::Capacity& capacity);
/// The batches at which the speed-up falls at once, and why it can; empty where there are none.
std::string steps_text(const sweeps::Schedule& schedule);

}  // namespace treeline::reports
