// SPDX-License-Identifier: Apache-2.0
/** Random operations on stores under faults, checked against a model: the command chaos. */
@Internal
package org.ddstore.benchmarks.chaos;

import org.ddstore.types.Internal;
