// SPDX-License-Identifier: Apache-2.0
package org.ddstore.types;

/**
 * A marker for exceptions that a retry cannot resolve: the same input fails again in the same way.
 * Jobs that are resubmitted after a failure stop at such an exception.
 */
public interface PermanentFailure {}
