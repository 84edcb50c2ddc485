// SPDX-License-Identifier: Apache-2.0
/** Programs that read the same rows in other ways, and the protocol that they share. */
@Internal
package org.ddstore.benchmarks.peers;

import org.ddstore.types.Internal;
