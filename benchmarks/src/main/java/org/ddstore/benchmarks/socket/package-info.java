// SPDX-License-Identifier: Apache-2.0
/** Plain blocking sockets, the limit of reads over a network. */
@Internal
package org.ddstore.benchmarks.socket;

import org.ddstore.types.Internal;
