// SPDX-License-Identifier: Apache-2.0
/**
 * The native library: the gather kernel in C and its Java side. DDStore also runs without it, in
 * Java.
 */
@Internal
package org.ddstore.nativeio;

import org.ddstore.types.Internal;
