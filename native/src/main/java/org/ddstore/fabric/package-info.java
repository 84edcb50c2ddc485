/**
 * The {@code fabric} transport: rows of other processes by one-sided reads over libfabric, which is
 * found at run time.
 */
package org.ddstore.fabric;
