// SPDX-License-Identifier: Apache-2.0
package org.ddstore.architecture.sample.floors.one;

/** Knows no other package. */
public final class Below {}
