// SPDX-License-Identifier: Apache-2.0
/** The {@code fabric} transport: one-sided reads by libfabric, located at run time. */
@Internal
package org.ddstore.fabric;

import org.ddstore.types.Internal;
