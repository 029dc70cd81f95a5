// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything a training loop needs from engine/optim.
#include "engine/optim/adam.h"
#include "engine/optim/adaptive.h"
#include "engine/optim/checkpoint.h"
#include "engine/optim/clip.h"
#include "engine/optim/lbfgs.h"
#include "engine/optim/lr_cycle.h"
#include "engine/optim/lr_scheduler.h"
#include "engine/optim/momentum.h"
#include "engine/optim/optimizer.h"
#include "engine/optim/sgd.h"
