// SPDX-License-Identifier: Apache-2.0
/** The start of a store by the number of ranks: measured parts and a model of the whole. */
@Internal
package org.ddstore.benchmarks.scale;

import org.ddstore.types.Internal;
