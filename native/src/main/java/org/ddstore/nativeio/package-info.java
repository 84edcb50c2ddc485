/** The gather kernel in C and its Java side; everything runs without it. */
@Internal
package org.ddstore.nativeio;

import org.ddstore.types.Internal;
