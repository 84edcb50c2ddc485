/** Programs as a user would write them. */
package org.ddstore.examples;
