// SPDX-License-Identifier: Apache-2.0
/** JMH benchmarks, one question per class. */
@Internal
package org.ddstore.benchmarks.jmh;

import org.ddstore.types.Internal;
