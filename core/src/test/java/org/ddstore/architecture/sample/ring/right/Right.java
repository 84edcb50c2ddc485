// SPDX-License-Identifier: Apache-2.0
package org.ddstore.architecture.sample.ring.right;

import org.ddstore.architecture.sample.ring.left.Left;

/** Knows the other package. */
public record Right(Left left) {}
