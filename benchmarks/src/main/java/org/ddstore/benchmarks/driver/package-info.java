// SPDX-License-Identifier: Apache-2.0
/** The part that all benchmarks share: ranks in JVMs of their own, results and their output. */
@Internal
package org.ddstore.benchmarks.driver;

import org.ddstore.types.Internal;
