// SPDX-License-Identifier: Apache-2.0
package org.ddstore.architecture.sample.leak.hidden;

/** A type that users should not see. */
public final class Hidden {}
