/**
 * The {@code fabric} transport: rows of other processes by one-sided reads over libfabric, which is
 * found at run time.
 */
@Internal
package org.ddstore.fabric;

import org.ddstore.types.Internal;
