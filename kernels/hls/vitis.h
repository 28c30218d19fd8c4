// What the kernels need from the synthesis tool, or its stand-in for native builds. Nothing else tells the two apart.
#pragma once

#ifdef __SYNTHESIS__
#include <ap_int.h>
#include <hls_stream.h>
#define TREELINE_ITERATION
#else
#include "kernels/hls/native/arbitrary_int.h"
#include "kernels/hls/native/stream.h"
#endif
