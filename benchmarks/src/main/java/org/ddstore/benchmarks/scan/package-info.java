// SPDX-License-Identifier: Apache-2.0
/** Queries of a store compared with queries of Spark's cache. */
@Internal
package org.ddstore.benchmarks.scan;

import org.ddstore.types.Internal;
