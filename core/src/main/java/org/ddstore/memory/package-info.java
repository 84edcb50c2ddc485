/** Owns off-heap bytes: reserves, maps, hands out and releases segments. */
package org.ddstore.memory;
