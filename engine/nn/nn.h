// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything a model needs from engine/nn.
#include "engine/nn/activations.h"
#include "engine/nn/attention.h"
#include "engine/nn/batch_norm.h"
#include "engine/nn/containers.h"
#include "engine/nn/conv.h"
#include "engine/nn/conv_nd.h"
#include "engine/nn/dropout.h"
#include "engine/nn/embedding.h"
#include "engine/nn/flatten.h"
#include "engine/nn/init.h"
#include "engine/nn/layer_norm.h"
#include "engine/nn/linear.h"
#include "engine/nn/loss.h"
#include "engine/nn/module.h"
#include "engine/nn/norm.h"
#include "engine/nn/pooling.h"
#include "engine/nn/pooling_nd.h"
#include "engine/nn/recurrent.h"
#include "engine/nn/transformer.h"
#include "engine/nn/upsample.h"
