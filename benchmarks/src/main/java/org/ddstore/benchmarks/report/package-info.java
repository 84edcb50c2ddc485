// SPDX-License-Identifier: Apache-2.0
/** Figures of benchmarks, the report of a run of all of them, and the comparison of two reports. */
@Internal
package org.ddstore.benchmarks.report;

import org.ddstore.types.Internal;
