// SPDX-License-Identifier: Apache-2.0
/** The command {@code bench}: measures whole jobs, each against a baseline in the same run. */
@Internal
package org.ddstore.benchmarks;

import org.ddstore.types.Internal;
