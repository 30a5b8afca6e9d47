using System;

namespace Garden.Plants
{
    /// <summary>class Hidden</summary>
    public delegate void Watered(Plant plant, double litres);

    public interface IPlant
    {
        string Name { get; }
        void Water(double litres);
    }

    [Serializable]
    public abstract class Plant<T> : IPlant where T : class
    {
        private readonly T soil;
        public const int Limit = 5;

        public event Watered OnWatered;

        protected Plant(T soil) => this.soil = soil;

        public string Name { get; set; } = "class No { }";

        public T this[int index] => soil;

        [Obsolete("use Water(double)")]
        public virtual async Task<int> WaterAsync(
            double litres,
            bool gently = false)
        {
            void Local() { }
            return await Task.FromResult(1);
        }

        public static Plant<T> operator +(Plant<T> a, Plant<T> b) => a;

        ~Plant() { }

        private enum Phase { Seed, Leaf }
    }

    public record Seed(string Kind, int Days);

    public readonly struct Moisture
    {
        public double Value { get; init; }
        public override string ToString() => $"{Value}";
    }

    public enum Season { Spring, Summer }
}
