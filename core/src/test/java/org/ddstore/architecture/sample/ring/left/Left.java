// SPDX-License-Identifier: Apache-2.0
package org.ddstore.architecture.sample.ring.left;

import org.ddstore.architecture.sample.ring.right.Right;

/** Knows the other package. */
public record Left(Right right) {}
