/** Owns off-heap bytes: reserves, maps, hands out and releases segments. */
@Internal
package org.ddstore.memory;

import org.ddstore.types.Internal;
