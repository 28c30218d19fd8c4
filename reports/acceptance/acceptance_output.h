// How `treeline study acceptance` shows what it found.
#pragma once

#include <string>

#include "sweeps/acceptance_study.h"

namespace treeline::reports {

std::string acceptance_table(const sweeps::AcceptanceStudyAnswer& answer);
std::string acceptance_json(const sweeps::AcceptanceStudyAnswer& answer);
std::string acceptance_csv(const sweeps::AcceptanceStudyAnswer& answer);
std::string acceptance_html(const sweeps::AcceptanceStudyAnswer& answer);

}  // namespace treeline::reports
