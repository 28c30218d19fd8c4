// The live page, opening with a question that has been answered.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "requests/catalogue.h"
#include "sweeps/recommend_answer.h"

namespace treeline {

/// What the page opens with where nothing is asked: a chat model on one device, its published drafter against a look-up.
extern const char* const first_question;

/// Needs reports::has_live_page().
std::string live_page(const sweeps::Answer& answer, const nlohmann::ordered_json& question,
                      const requests::Catalogue& catalogue);

}  // namespace treeline
