// SPDX-License-Identifier: Apache-2.0
/**
 * The {@code fabric} transport: reads rows of other processes by one-sided reads over libfabric,
 * which is located at run time.
 */
@Internal
package org.ddstore.fabric;

import org.ddstore.types.Internal;
