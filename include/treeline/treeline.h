// All of Treeline for programs that embed it. find_package(treeline) gives the target treeline::treeline.
#pragma once

#include "treeline/calibrate.h"
#include "treeline/catalogue.h"
#include "treeline/estimate.h"
#include "treeline/questions.h"
#include "treeline/recommend.h"
#include "treeline/sweep.h"
#include "treeline/tree.h"
#include "treeline/validate.h"
