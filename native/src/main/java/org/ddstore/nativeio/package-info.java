/** The gather kernel in C and its Java side; everything runs without it. */
package org.ddstore.nativeio;
