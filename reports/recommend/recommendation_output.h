// How `treeline recommend` and `treeline report` show what they found.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engines/engine_flags.h"
#include "reports/explain.h"
#include "sweeps/recommend_answer.h"

namespace treeline::reports {

/// What to do and what that gains, in a sentence.
std::string sentence_of(const sweeps::Answer& answer);
/// In which formats a variant is priced: "weights in bf16"; of an accelerator all that its design states.
std::string formats_text(const sweeps::Variant& variant);

/// The first screen: what to run, how sure that is, flags of the priced engine, schedule, the figures side by side, at most
/// three notes.
std::string first_screen(const sweeps::Answer& answer);

/// The sections behind it, in their order, and the text of one of them; empty if there is nothing to say.
std::vector<std::string> recommendation_sections();
std::string recommendation_section(const sweeps::Answer& answer, const std::string& name);

/// What `treeline recommend` prints.
std::string recommendation_table(const sweeps::Answer& answer, const Explain& explain = {});
/// Format "treeline-recommendation", version 1; "input" repeats the workload file.
nlohmann::ordered_json recommendation_json(const sweeps::Answer& answer, const nlohmann::ordered_json& input);
/// Whether a page gets its studies (traffic that arrives, trees against chains, choosing while decoding), which are simulated:
/// they take ten times as long as the rest.
enum class PageStudies { all, none };
/// The data of the report's page (reports/html.h). If nothing meets the limits, the page says why. `others` are flags of
/// further engines, shown beside those of the one that was priced.
nlohmann::ordered_json report_page_data(const sweeps::Answer& answer, const std::vector<engines::EngineFlags>& others = {},
                                        PageStudies studies = PageStudies::all);
/// One line per candidate that meets the limits, best first.
std::string recommendation_csv(const sweeps::Answer& answer);

/// Target, drafter, platform and so on as name and value.
std::vector<std::pair<std::string, std::string>> configuration_of(const sweeps::Answer& answer);

/// Between what times a token lies where plain decoding is recommended, as factors of the expected one; null where nothing is
/// known of it.
const sweeps::MeasuredTime* shown_plain_time(const sweeps::Answer& answer);
/// The same in a sentence; empty where nothing is known of it.
std::string plain_time_text(const sweeps::Answer& answer);

/// "With 4 drafts and an accept length below 1.87 (1.89 expected), n-gram on h100-sxm would be the better choice." Needs the
/// length to be known.
std::string flip_text(const sweeps::Recommendation& found);

/// "tensor 8": how the plain decoding that gains are over shares the model out, where the recommendation does otherwise; else
/// empty.
std::string other_cut_text(const sweeps::Recommendation& found);

/// "The largest batch at context 725 is 613 without a drafter, 586 with it in memory, and 576 with its drafts."
std::string largest_batches_text(const sweeps::Recommendation& found);

/// Why the gain at a load may lie outside of a table of equal numbers of requests: drafting leaves room for fewer, or is done
/// sooner with those that arrive. Empty where they are alike, or plain decoding cannot serve the load.
std::string in_service_text(const sweeps::Answer& answer);

/// How many sequences the drafter costs, also while it drafts nothing where its schedule goes so far, and the largest parts of
/// memory; empty where it costs none.
std::string capacity_text(const sweeps::Recommendation& found);

/// Where the acceptance of the recommended drafter comes from, with accept length and break-even.
std::string acceptance_text(const sweeps::Answer& answer);

}  // namespace treeline::reports
